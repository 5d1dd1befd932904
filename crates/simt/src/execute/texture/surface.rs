//! Surfaces: loads and stores of bytes of an array, by coordinates.

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Warp, read_row, write_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::image::{Beyond, ImageOperation, SurfaceAccess};
use crate::observer::AccessKind;
use crate::operation::{Access, Base, Semantics, Space};
use crate::registers::LANES;
use crate::texture::Image;
use races::Request;
use races::lanes;

impl Worker<'_> {
    /// Executes a texture or surface instruction.
    pub fn image(&mut self, issue: Issue<'_>, operation: &ImageOperation) -> Result<(), Error> {
        match operation {
            ImageOperation::Fetch(fetch) => self.fetch(issue, fetch),
            ImageOperation::Load(access) => self.surface(issue, access, false),
            ImageOperation::Store(access) => self.surface(issue, access, true),
            ImageOperation::Query(query) => self.query_texture(issue, query),
        }
    }

    fn surface(
        &mut self,
        mut issue: Issue<'_>,
        access: &SurfaceAccess,
        store: bool,
    ) -> Result<(), Error> {
        let objects = self.objects(&issue, access.address.object)?;
        for (group, texture) in objects {
            let image = &texture.image;
            self.check_geometry((&issue, group), image, access.address.geometry)?;
            if texture.sampler.is_some() {
                let message = "a surface instruction needs a surface object, and this is a texture: create a surface of \
                               the same array"
                    .into();
                return Err(self.refuse(&issue, group, message));
            }
            let total = access.bytes * access.rows.len() as u32;
            let mut all = [0; LANES];
            let mut inside = 0;
            for lane in lanes(group) {
                let place = self.place_in_surface(&issue, lane, access, image)?;
                if let Some([byte, y, z]) = place {
                    all[lane] = image.address(0, u64::from(byte), y, z);
                    inside |= 1 << lane;
                }
            }
            let Issue { block, warp, pc, .. } = &mut issue;
            let request = Request::new(*pc, inside, &all, total);
            if store && inside != 0 {
                self.store_texels(block, warp, request, access)?;
            } else if !store {
                let mut texels = [[0; 16]; LANES];
                if inside != 0 {
                    self.read_texels(block, warp, request, &mut texels)?;
                }
                let size = access.bytes as usize;
                for (k, row) in access.rows.iter().enumerate() {
                    write_row(warp, *row, group, |lane| {
                        let mut word = [0; 8];
                        word[..size].copy_from_slice(&texels[lane][k * size..][..size]);
                        u64::from_le_bytes(word)
                    });
                }
            }
            let touched = lanes(inside).map(|lane| all[lane]).collect();
            self.count_texels(issue.pc, group, total, touched);
        }
        Ok(())
    }

    /// The byte, row and slice of a lane; none where it is beyond the edge and reads zero.
    fn place_in_surface(
        &self,
        issue: &Issue<'_>,
        lane: usize,
        access: &SurfaceAccess,
        image: &Image,
    ) -> Result<Option<[u32; 3]>, Error> {
        let word = |row: u32| issue.warp.registers.words[row as usize][lane] as i32;
        let coordinate = |k: usize| access.address.at.get(k).map_or(0, |row| word(*row));
        let total = (access.bytes * access.rows.len() as u32) as i32;
        let [_, height, depth] = image.extent(0).map(|n| n as i32);
        let last = image.row_bytes(0) as i32 - total;
        // A layer is unsigned, and none is beyond the last.
        let layer = |row: u32| (word(row) as u32).min(depth as u32 - 1) as i32;
        let z = access.address.layer.map_or_else(|| coordinate(2), layer);
        let at = [coordinate(0), coordinate(1), z];
        let most = [last, height - 1, depth - 1];
        let is_inside = at.iter().zip(most).all(|(at, most)| (0..=most).contains(at));
        if at[0] % total != 0 {
            let message = format!(
                "x is byte {} of a row, and an access of {total} bytes needs a multiple of {total}: multiply the column \
                 by the texel's size",
                at[0]
            );
            return Err(self.refuse(issue, 1 << lane, message));
        }
        match access.beyond {
            _ if is_inside => Ok(Some(at.map(|c| c as u32))),
            Beyond::Zero => Ok(None),
            Beyond::Clamp if last < 0 => Ok(None),
            Beyond::Clamp => {
                let mut place = [0; 3];
                for (to, (at, most)) in place.iter_mut().zip(at.iter().zip(most)) {
                    *to = (*at).clamp(0, most) as u32;
                }
                Ok(Some(place))
            }
            Beyond::Trap => {
                let [x, y, z] = at;
                let message = format!(
                    "byte {x}, row {y}, slice {z} lies outside the surface of {} bytes, {height} rows, {depth} slices: \
                     check the coordinates, or use `.clamp` or `.zero`",
                    image.row_bytes(0)
                );
                Err(self.refuse(issue, 1 << lane, message))
            }
        }
    }

    /// Stores what the rows hold, with all checks of a store.
    fn store_texels(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &SurfaceAccess,
    ) -> Result<(), Error> {
        let window = self.window(block, warp, request, true)?;
        self.observers.tell(AccessKind::Store, request);
        if self.observers.checking {
            let store = Access {
                space: Space::Global,
                base: Base::Absolute,
                offset: 0,
                bytes: access.bytes,
                signed: false,
                rows: access.rows.iter().copied().map(Some).collect(),
                strong: false,
                past_l1: false,
                semantics: Semantics::default(),
                read_only: false,
                of_call: false,
            };
            self.check_global_write(block, warp, request, &store);
            self.check_conflicting(block, warp, request, &store);
        }
        for (k, row) in access.rows.iter().enumerate() {
            let shift = k as u64 * u64::from(access.bytes);
            for lane in lanes(request.mask) {
                let value = read_row(warp, *row, lane);
                // SAFETY: `window` checked bounds and alignment of all lanes of the request.
                unsafe { window.write(lane, shift, access.bytes, value) };
            }
        }
        Ok(())
    }
}
