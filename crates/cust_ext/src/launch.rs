//! Launches that cust's `launch!` cannot express: cooperative grids, clusters, programmatic overlap, priorities, and
//! access-policy windows of their own.
//!
//! ```no_run
//! # fn f(kernel: &cust::function::Function<'_>, stream: &cust::stream::Stream) -> cust_ext::Result<()> {
//! use cust_ext::launch::Launch;
//! let launch = Launch { cooperative: true, ..Launch::new(132, 256) };
//! let mut n = 1000_u32;
//! // SAFETY: the kernel takes a number.
//! unsafe { launch.run(kernel, stream, &[(&raw mut n).cast()])? };
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use crate::l2::AccessPolicyWindow;
use cuda_driver::types::{LaunchAttribute, LaunchAttributeValue, LaunchConfig};
use cust::function::{BlockSize, Function, GridSize};
use cust::stream::Stream;
use std::ffi::{c_int, c_void};

/// The shape and attributes of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: GridSize,
    /// Threads of a block in x, y, z.
    pub block: BlockSize,
    /// Dynamic shared memory per block; above 48 KiB see [`crate::function::allow_dynamic_shared_bytes`].
    pub dynamic_shared_bytes: u32,
    /// All blocks run at once, so that they can synchronize with each other across the grid.
    pub cooperative: bool,
    /// Blocks per cluster in x, y, z (compute capability 9.0 and newer).
    pub cluster: Option<[u32; 3]>,
    /// May start before the stream's previous kernel has ended (the kernel waits with `griddepcontrol.wait`).
    pub overlap_previous: bool,
    /// Overrides the stream's priority.
    pub priority: Option<i32>,
    /// Overrides the stream's access-policy window. What persists in L2 afterwards does so until it is returned to normal
    /// ([`crate::l2::reset_persisting`]).
    pub window: Option<AccessPolicyWindow>,
}

impl Launch {
    /// A plain launch; change the fields that differ.
    pub fn new(grid: impl Into<GridSize>, block: impl Into<BlockSize>) -> Launch {
        Launch {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared_bytes: 0,
            cooperative: false,
            cluster: None,
            overlap_previous: false,
            priority: None,
            window: None,
        }
    }

    /// Enqueues the kernel. `arguments` are the addresses of the kernel's parameters, in order.
    ///
    /// # Errors
    /// A launch that contradicts itself, and the driver's.
    ///
    /// # Safety
    /// - What cust's `launch!` asks for: as many arguments as the kernel has parameters, each the address of a value
    ///   with the parameter's size and layout.
    /// - For that size of launch the kernel stays inside the memory that it was given, which is alive, and touched by
    ///   no one else, until the stream has finished it.
    pub unsafe fn run(
        &self,
        function: &Function,
        stream: &Stream,
        arguments: &[*mut c_void],
    ) -> Result<()> {
        self.check()?;
        let mut attributes = self.attributes();
        let config = self.config(stream, &mut attributes);
        let parameters = arguments.as_ptr().cast_mut();
        // SAFETY: function and stream are alive, the attributes outlive the call, and the parameters are the caller's.
        unsafe {
            call!(cuLaunchKernelEx(&config, function.to_raw(), parameters, std::ptr::null_mut()))
        }
    }

    /// Returns how many clusters of this shape run on the device at once.
    ///
    /// # Errors
    /// A launch that contradicts itself, and the driver's.
    pub fn max_active_clusters(&self, function: &Function, stream: &Stream) -> Result<u32> {
        self.check()?;
        let mut attributes = self.attributes();
        let config = self.config(stream, &mut attributes);
        let mut clusters: c_int = 0;
        // SAFETY: a local to write to; function, stream and attributes are alive.
        unsafe { call!(cuOccupancyMaxActiveClusters(&mut clusters, function.to_raw(), &config))? };
        Ok(clusters.cast_unsigned())
    }

    fn check(&self) -> Result<()> {
        let GridSize { x, y, z } = self.grid;
        let grid = [x, y, z];
        if grid.contains(&0) || [self.block.x, self.block.y, self.block.z].contains(&0) {
            return argument(format!(
                "a launch of {x} x {y} x {z} blocks of {} x {} x {} threads: every extent is at least 1",
                self.block.x, self.block.y, self.block.z
            ));
        }
        let Some(cluster) = self.cluster else { return Ok(()) };
        if cluster.contains(&0)
            || grid.iter().zip(cluster).any(|(blocks, per_cluster)| blocks % per_cluster != 0)
        {
            return argument(format!(
                "a grid of {x} x {y} x {z} blocks cannot be divided into clusters of {} x {} x {}",
                cluster[0], cluster[1], cluster[2]
            ));
        }
        Ok(())
    }

    fn attributes(&self) -> Vec<LaunchAttribute> {
        let mut attributes = Vec::new();
        let mut add = |id, value: LaunchAttributeValue| {
            attributes.push(LaunchAttribute { id, pad: [0; 4], value });
        };
        if self.cooperative {
            add(LaunchAttribute::COOPERATIVE, LaunchAttributeValue { cooperative: 1 });
        }
        if let Some(cluster_dim) = self.cluster {
            add(LaunchAttribute::CLUSTER_DIMENSION, LaunchAttributeValue { cluster_dim });
        }
        if self.overlap_previous {
            let value = LaunchAttributeValue { programmatic_stream_serialization_allowed: 1 };
            add(LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION, value);
        }
        if let Some(priority) = self.priority {
            add(LaunchAttribute::PRIORITY, LaunchAttributeValue { priority });
        }
        if let Some(window) = self.window {
            add(LaunchAttribute::ACCESS_POLICY_WINDOW, window.value());
        }
        attributes
    }

    fn config(&self, stream: &Stream, attributes: &mut [LaunchAttribute]) -> LaunchConfig {
        LaunchConfig {
            grid_dim_x: self.grid.x,
            grid_dim_y: self.grid.y,
            grid_dim_z: self.grid.z,
            block_dim_x: self.block.x,
            block_dim_y: self.block.y,
            block_dim_z: self.block.z,
            shared_mem_bytes: self.dynamic_shared_bytes,
            stream: stream.as_inner(),
            attributes: if attributes.is_empty() {
                std::ptr::null_mut()
            } else {
                attributes.as_mut_ptr()
            },
            num_attributes: u32::try_from(attributes.len())
                .expect("there are five kinds of attributes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_lists_the_attributes_that_differ() {
        assert!(Launch::new(1, 32).attributes().is_empty());
        let launch = Launch { cooperative: true, cluster: Some([2, 1, 1]), ..Launch::new(4, 32) };
        let ids: Vec<u32> = launch.attributes().iter().map(|attribute| attribute.id).collect();
        assert_eq!(ids, [LaunchAttribute::COOPERATIVE, LaunchAttribute::CLUSTER_DIMENSION]);
    }

    #[test]
    fn shapes_are_checked_before_the_driver_sees_them() {
        assert!(Launch::new(0, 32).check().is_err());
        assert!(Launch::new(1, (32, 0)).check().is_err());
        let odd = Launch { cluster: Some([2, 1, 1]), ..Launch::new(3, 32) };
        assert_eq!(
            odd.check().unwrap_err().to_string(),
            "a grid of 3 x 1 x 1 blocks cannot be divided into clusters of 2 x 1 x 1"
        );
        assert_eq!(Launch { grid: 4.into(), ..odd }.check(), Ok(()));
    }
}
