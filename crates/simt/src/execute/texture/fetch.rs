use crate::compute::texture::{Detail, Footprint, Point, Tap, around, border, combine, decode};
use crate::compute::texture::{TAPS, footprint};
use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Warp, write_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::image::{Fetch, Geometry, LevelOperand, TextureQuery, TextureQuestion};
use crate::observer::AccessKind;
use crate::registers::LANES;
use crate::texture::{Image, Sampler, Shape, Texture};
use counters::RequestCounts;
use races::Request;
use races::lanes;

/// The bytes of a texel of each lane.
type Texels = [[u8; 16]; LANES];

impl Geometry {
    fn name(self) -> &'static str {
        match self {
            Geometry::Line => "1d",
            Geometry::Plane => "2d",
            Geometry::Volume => "3d",
            Geometry::Lines => "a1d",
            Geometry::Planes => "a2d",
            Geometry::Cube => "cube",
            Geometry::Cubes => "acube",
        }
    }

    fn of(shape: Shape) -> Geometry {
        match shape {
            Shape::Buffer | Shape::Line => Geometry::Line,
            Shape::Plane => Geometry::Plane,
            Shape::Volume => Geometry::Volume,
            Shape::Lines => Geometry::Lines,
            Shape::Planes => Geometry::Planes,
            Shape::Cube => Geometry::Cube,
            Shape::Cubes => Geometry::Cubes,
        }
    }
}

impl<'r> Worker<'r> {
    /// The lanes of a mask by the object that their handle names.
    pub(crate) fn objects(
        &self,
        issue: &Issue<'_>,
        object: u32,
    ) -> Result<Vec<(u32, &'r Texture)>, Error> {
        let handles = &issue.warp.registers.longs[object as usize];
        let mut groups = Vec::new();
        let mut left = issue.mask;
        while left != 0 {
            let handle = handles[left.trailing_zeros() as usize];
            let group = lanes(left)
                .filter(|lane| handles[*lane] == handle)
                .fold(0, |m, lane| m | 1 << lane);
            left &= !group;
            let memory = self.run.memory;
            let Some(texture) = memory.texture(handle) else {
                let what = if memory.was_texture(handle) {
                    "was destroyed: destroy it after the last launch that uses it has ended"
                } else {
                    "was never made: pass the object that the host created"
                };
                let message = format!("the texture or surface object {handle:#x} {what}");
                return Err(self.refuse(issue, group, message));
            };
            groups.push((group, texture));
        }
        Ok(groups)
    }

    #[cold]
    pub(crate) fn refuse(&self, issue: &Issue<'_>, lanes: u32, message: String) -> Error {
        let Issue { block, warp, pc, .. } = issue;
        let place = Box::new(self.run.place(block.index, warp.index, lanes, *pc));
        Error::IllegalInstruction { place, message }
    }

    /// An error unless the image has the dimensions that the instruction names.
    pub(crate) fn check_geometry(
        &self,
        (issue, lanes): (&Issue<'_>, u32),
        image: &Image,
        geometry: Geometry,
    ) -> Result<(), Error> {
        let is = Geometry::of(image.shape);
        if is == geometry {
            return Ok(());
        }
        let message = format!(
            "the instruction is for `{}`, but the object is `{}`: use the instruction for its dimensions",
            geometry.name(),
            is.name()
        );
        Err(self.refuse(issue, lanes, message))
    }

    pub fn fetch(&mut self, mut issue: Issue<'_>, fetch: &Fetch) -> Result<(), Error> {
        let objects = self.objects(&issue, fetch.address.object)?;
        for (group, texture) in objects {
            self.check_geometry((&issue, group), &texture.image, fetch.address.geometry)?;
            if let Some(message) = refusal(texture, fetch) {
                return Err(self.refuse(&issue, group, message.into()));
            }
            if let Some(sampler) = &texture.sampler {
                let Issue { block, warp, pc, .. } = &mut issue;
                let issue = Issue { block, warp, pc: *pc, mask: group };
                self.fetch_from(issue, fetch, (&texture.image, sampler))?;
            }
        }
        Ok(())
    }

    fn fetch_from(
        &mut self,
        issue: Issue<'_>,
        fetch: &Fetch,
        (image, sampler): (&Image, &Sampler),
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let words = &warp.registers.words;
        let word = |row: &u32, lane: usize| words[*row as usize][lane];
        let point = |lane: usize| {
            let mut at = [0; 3];
            at.iter_mut().zip(&fetch.address.at).for_each(|(to, row)| *to = word(row, lane));
            let layer = fetch.address.layer.map_or(0, |row| word(&row, lane));
            let levelled = fetch.level != LevelOperand::Nothing;
            Point { at, whole: fetch.whole, levelled, layer }
        };
        let mut footprints: [Option<Footprint>; LANES] = [None; LANES];
        for lane in lanes(mask) {
            let detail = match fetch.level {
                LevelOperand::Nothing => Detail::Finest,
                LevelOperand::Float(row) => Detail::Level(f32::from_bits(word(&row, lane))),
                LevelOperand::Whole(row) => Detail::Whole(word(&row, lane) as i32),
            };
            footprints[lane] = match fetch.gather {
                Some(_) => Some(Footprint::of(around(image, sampler, &point(lane)))),
                None => footprint(image, sampler, &point(lane), detail),
            };
        }
        let beyond = border(image, sampler, fetch.whole);
        let mut texels = [[beyond; LANES]; 2 * TAPS];
        let mut touched = Vec::new();
        for (slot, texels) in texels.iter_mut().enumerate() {
            let mut all = [0; LANES];
            let mut some = 0;
            for lane in lanes(mask) {
                if let Some(Footprint { levels, taps, .. }) = &footprints[lane]
                    && let Tap { place: Some([x, y, z]), used: true, .. } = taps[slot]
                {
                    let byte = u64::from(x) * u64::from(image.texel_bytes());
                    all[lane] = image.address(levels[slot / TAPS], byte, y, z);
                    some |= 1 << lane;
                    touched.push(all[lane]);
                }
            }
            if some != 0 {
                let request = Request::new(pc, some, &all, image.texel_bytes());
                self.read_texels(block, warp, request, texels)?;
            }
        }
        self.count_texels(pc, mask, image.texel_bytes(), touched);
        for (k, row) in fetch.results.iter().enumerate() {
            write_row(warp, *row, mask, |lane| {
                let Some(footprint) = &footprints[lane] else { return 0 };
                u64::from(match fetch.gather {
                    Some(channel) => decode(image, sampler.to_float, texels[k][lane])[channel],
                    None => combine(image, sampler, footprint, |slot| texels[slot][lane])[k],
                })
            });
        }
        Ok(())
    }

    /// Reads a texel for each lane of a request, with all checks of a load; the data must not change during the launch.
    pub(crate) fn read_texels(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        texels: &mut Texels,
    ) -> Result<(), Error> {
        let window = self.window(block, warp, request, false)?;
        self.observers.tell(AccessKind::Fetch, request);
        if self.observers.checking {
            self.check_global_read(block, warp, request, true);
        }
        let bytes = request.bytes.min(8);
        for lane in lanes(request.mask) {
            for shift in (0..request.bytes).step_by(8) {
                // SAFETY: `window` checked bounds and alignment of all lanes of the request.
                let value = unsafe { window.read(lane, u64::from(shift), bytes) };
                let from = value.to_le_bytes();
                let to = &mut texels[lane][shift as usize..][..bytes as usize];
                to.copy_from_slice(&from[..bytes as usize]);
            }
        }
        Ok(())
    }

    /// Counts one request with the distinct texels, sectors and lines of all lanes.
    pub(crate) fn count_texels(&mut self, pc: usize, mask: u32, bytes: u32, mut touched: Vec<u64>) {
        if !self.observers.counting {
            return;
        }
        touched.sort_unstable();
        touched.dedup();
        let texels = touched.len() as u64;
        let mut distinct = |shift: u32| {
            touched.dedup_by_key(|address| *address >> shift);
            touched.len() as u64
        };
        let (sectors, lines) = (distinct(5), distinct(7));
        let lanes = u64::from(mask.count_ones());
        self.observers.tallies[pc].global += RequestCounts {
            requests: 1,
            lanes,
            bytes: lanes * u64::from(bytes),
            bytes_distinct: texels * u64::from(bytes),
            sectors,
            sectors_ideal: (texels * u64::from(bytes)).div_ceil(32),
            lines,
            ..RequestCounts::default()
        };
    }

    pub fn query_texture(&mut self, issue: Issue<'_>, query: &TextureQuery) -> Result<(), Error> {
        for (group, texture) in self.objects(&issue, query.object)? {
            let Image { shape, width, height, depth, .. } = texture.image;
            let answer = match (query.question, shape) {
                (TextureQuestion::Width, _) => width,
                (TextureQuestion::Height, Shape::Buffer) => 0,
                (TextureQuestion::Height, Shape::Lines) => depth,
                (TextureQuestion::Height, _) => height,
                (TextureQuestion::Depth, Shape::Volume | Shape::Planes) => depth,
                (TextureQuestion::Depth, Shape::Cubes) => depth / 6,
                (TextureQuestion::Depth, _) => 0,
            };
            write_row(issue.warp, query.destination, group, |_| u64::from(answer));
        }
        Ok(())
    }
}

/// Why a texture cannot be read like this.
fn refusal(texture: &Texture, fetch: &Fetch) -> Option<&'static str> {
    let Some(sampler) = &texture.sampler else {
        return Some(
            "a fetch needs a texture object, and this is a surface: create a texture of the same array",
        );
    };
    let image = &texture.image;
    match (image.shape, fetch.whole) {
        (Shape::Buffer, false) => Some(
            "a texture of linear memory has integer coordinates: use `tex.1d.v4.*.s32`, or an array",
        ),
        (Shape::Line, true) => Some(
            "`tex.1d` with integer coordinates reads linear memory, and of an array only zeros: use `f32` coordinates",
        ),
        (Shape::Cube | Shape::Cubes, true) => Some("a cube map has `f32` coordinates"),
        _ if sampler.linear && !image.format.is_float() && !sampler.to_float && !fetch.whole => {
            Some(
                "linear filtering needs floats, and the texture reads integers: read them as normalized floats, or use \
             the nearest texel",
            )
        }
        _ => None,
    }
}
