use crate::decode::context::Context;
use crate::decode::contraction::Contraction;
use crate::decode::decode;
use crate::error::{Error, Position};
use crate::memory::Memory;
use crate::observer::{InstructionFacts, facts};
use crate::pressure;
use crate::program::Program;
use crate::uninitialized::UninitializedReads;
use ptx::Type;
use ptx::parse;
use ptx::tree::{Initial, Tree, Variable};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The declared kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A number of up to 8 bytes.
    Scalar,
    /// A 64-bit address, declared with `.ptr`.
    Pointer,
    /// A by-value struct or array.
    Bytes,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the PTX.
    pub name: String,
    /// Offset in the parameter buffer.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Its declared kind.
    pub kind: ParameterKind,
    /// The type in its declaration, such as `f32`, of an array that of its elements.
    pub element: String,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// `.maxntid` or `.reqntid`: threads per block at most.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the block must have these extents.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the launch has clusters of these extents.
    pub required_cluster: Option<[u32; 3]>,
    pub(crate) program: Result<Program, Error>,
    /// Registers that may be read before they are written, once somebody asked.
    pub(crate) doubt: OnceLock<UninitializedReads>,
    /// The facts of its instructions, once somebody asked.
    pub(crate) facts: OnceLock<Arc<[InstructionFacts]>>,
    /// The estimate of its registers, once somebody asked.
    pub(crate) registers: OnceLock<u32>,
}

impl Kernel {
    /// Returns the facts of each instruction, by its number; none of a kernel that cannot be executed.
    pub fn instruction_facts(&self) -> Arc<[InstructionFacts]> {
        let facts = || self.program.as_ref().map(facts).unwrap_or_default().into();
        Arc::clone(self.facts.get_or_init(facts))
    }

    /// Bytes of static shared memory.
    pub fn static_shared_bytes(&self) -> u32 {
        self.program.as_ref().map_or(0, |p| p.shared_static)
    }

    /// Bytes of local memory per thread, as declared in the PTX.
    pub fn local_bytes(&self) -> u32 {
        self.program.as_ref().map_or(0, |p| p.local_bytes)
    }

    /// Bytes of the parameter buffer.
    pub fn parameter_bytes(&self) -> u32 {
        self.parameters.last().map_or(0, |p| p.offset + p.bytes)
    }

    /// Returns whether every instruction is implemented; the error names the first that is not.
    ///
    /// # Errors
    /// When one is not.
    pub fn supported(&self) -> Result<(), &Error> {
        self.program.as_ref().map(|_| ())
    }

    /// Returns whether some instruction is only approximately what hardware computes.
    pub fn is_approximate(&self) -> bool {
        self.program.as_ref().is_ok_and(|p| p.approximate)
    }

    /// Returns whether results may depend on the order in which blocks run.
    pub fn is_order_dependent(&self) -> bool {
        self.program.as_ref().is_ok_and(|p| p.order_dependent)
    }

    /// A product and a sum of it that NVIDIA's assembler may fuse, so that a GPU rounds once where
    /// the executor rounds twice: the first, if there is one.
    pub fn contraction(&self) -> Option<&Contraction> {
        self.program.as_ref().ok()?.contraction.as_ref()
    }

    /// Returns whether it reads a clock or another value that hardware does not reproduce.
    pub fn is_irreproducible(&self) -> bool {
        self.program.as_ref().is_ok_and(|p| p.irreproducible)
    }

    /// Returns whether it calls `cudaGraphSetConditional`.
    pub fn sets_conditions(&self) -> bool {
        self.program.as_ref().is_ok_and(|p| p.sets_conditions)
    }

    /// Returns whether it may launch kernels.
    pub fn launches_kernels(&self) -> bool {
        self.program.as_ref().is_ok_and(|p| !p.launchable.is_empty())
    }

    /// Returns how many registers a thread of it takes: an estimate, where `ptxas` has not said it.
    pub fn registers(&self) -> u32 {
        let estimate = || {
            let program = self.program.as_ref();
            program.map_or(0, |program| pressure::registers(program, self.max_threads))
        };
        *self.registers.get_or_init(estimate)
    }

    /// Every instruction with its PTX line and whether it is approximate: a listing.
    pub fn listing(&self) -> Vec<(u32, String)> {
        let Ok(program) = &self.program else { return Vec::new() };
        let mut listing: Vec<_> = program
            .details
            .iter()
            .filter(|d| !d.synthetic)
            .map(|d| (d.position.line, program.texts[d.text as usize].clone()))
            .collect();
        listing.sort_by_key(|(line, _)| *line);
        listing
    }
}

/// The state space of a module variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableSpace {
    /// `.global`.
    Global,
    /// `.const`.
    Constant,
}

/// A module-scope variable that the host can find by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its name.
    pub name: String,
    /// State space of the variable.
    pub space: VariableSpace,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its alignment in bytes.
    pub alignment: u64,
    /// It is managed memory, which the host reaches at the same address.
    pub is_managed: bool,
    /// The initial content; bytes beyond it are zero. Loading the module fills in addresses of other variables.
    pub initial: Vec<u8>,
    relocations: Vec<Relocation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Relocation {
    at: usize,
    bytes: u32,
    target: Target,
    offset: i64,
    shift: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Variable(String),
    Value(u64),
}

/// The number of instructions of each kind in a text, and whether they are implemented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The opcode with its modifiers.
    pub instruction: String,
    /// The number of places where it is written.
    pub count: u32,
    /// Why it cannot be executed, when it cannot.
    pub problem: Option<Error>,
}

/// A parsed PTX text.
#[derive(Debug)]
pub struct Module {
    id: u64,
    /// `.version`.
    pub version: (u32, u32),
    /// `.target`, for instance `sm_90`.
    pub target: String,
    code: Arc<Code>,
}

/// The decoded text of one module or of several, which have variables of their own.
#[derive(Debug)]
struct Code {
    version: (u32, u32),
    target: String,
    kernels: Vec<Kernel>,
    places: HashMap<String, usize>,
    variables: Vec<ModuleVariable>,
    source: String,
    digest: u64,
}

/// The code of the modules that are alive and were made by [`Module::parse_once`].
static PARSED: Mutex<Vec<Weak<Code>>> = Mutex::new(Vec::new());

/// The newest major version of PTX whose meaning is known here. A minor version adds instructions, each of which is known
/// or refused by name.
const MAJOR_VERSION_MAX: u32 = 9;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Module {
    /// Parses PTX and decodes its kernels.
    ///
    /// An instruction that the executor lacks is not an error here: it is reported by
    /// [`Kernel::supported`] and by a launch of that kernel.
    ///
    /// # Errors
    /// When the text is no PTX.
    pub fn parse(ptx: &str) -> Result<Module, Error> {
        let tree = parse(ptx)?;
        if let Some((bits, position)) = tree.address_size.filter(|(bits, _)| *bits != 64) {
            return Err(Error::Unsupported { position, what: format!(".address_size {bits}") });
        }
        if tree.version.0 > MAJOR_VERSION_MAX {
            let (major, minor) = tree.version;
            return Err(Error::Unsupported {
                position: Position { line: 1, column: 1 },
                what: format!(".version {major}.{minor}"),
            });
        }
        let context = Context::new(&tree);
        let mut kernels: Vec<Kernel> = Vec::new();
        let mut places = HashMap::new();
        for (index, function) in tree.functions.iter().enumerate() {
            if !function.is_entry || function.body.is_none() {
                continue;
            }
            if places.insert(function.name.to_owned(), kernels.len()).is_some() {
                return Err(Error::Invalid {
                    position: function.position,
                    message: format!("kernel `{}` is defined twice", function.name),
                });
            }
            kernels.push(Kernel {
                name: function.name.into(),
                parameters: parameters(&function.parameters)?,
                max_threads: function
                    .max_threads
                    .or(function.required_threads)
                    .map(|n| n.iter().fold(1u32, |a, b| a.saturating_mul(*b))),
                required_block: function.required_threads,
                required_cluster: function.cluster,
                program: decode(&context, index),
                doubt: OnceLock::new(),
                facts: OnceLock::new(),
                registers: OnceLock::new(),
            });
        }
        let variables = variables(&tree, &context)?;
        let (version, target) = (tree.version, tree.target.into());
        let mut hasher = DefaultHasher::new();
        ptx.hash(&mut hasher);
        let (source, digest) = (ptx.into(), hasher.finish());
        let code = Code { version, target, kernels, places, variables, source, digest };
        Ok(Module::of(Arc::new(code)))
    }

    /// As [`Module::parse`]; a text that a living module was so made of is not parsed again. The modules share what is
    /// decoded, and each has variables of its own.
    ///
    /// # Errors
    /// When the text is no PTX.
    pub fn parse_once(ptx: &str) -> Result<Module, Error> {
        let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
        parsed.retain(|code| code.strong_count() > 0);
        let mut known = parsed.iter().filter_map(Weak::upgrade);
        if let Some(code) = known.find(|code| code.source == ptx) {
            return Ok(Module::of(code));
        }
        let module = Module::parse(ptx)?;
        parsed.push(Arc::downgrade(&module.code));
        Ok(module)
    }

    /// Returns the PTX that it was made of.
    pub fn source(&self) -> &str {
        &self.code.source
    }

    /// Returns a number that modules of one text share, and of different texts hardly ever.
    pub fn digest(&self) -> u64 {
        self.code.digest
    }

    fn of(code: Arc<Code>) -> Module {
        let (version, target) = (code.version, code.target.clone());
        Module { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), version, target, code }
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> &[Kernel] {
        &self.code.kernels
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// When the module has none of this name.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        let place = self.code.places.get(name).ok_or_else(|| Error::UnknownKernel {
            name: name.into(),
            available: self.code.kernels.iter().map(|k| k.name.clone()).collect(),
        });
        Ok(&self.code.kernels[*place?])
    }

    /// The module-scope variables in global and constant memory.
    pub fn variables(&self) -> &[ModuleVariable] {
        &self.code.variables
    }

    /// Lists every instruction of the text with its count and whether it can be executed.
    pub fn coverage(&self) -> Vec<Coverage> {
        coverage(&self.code.source)
    }

    /// Gives the module's variables their place in memory; done by the first launch otherwise.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn load(&self, memory: &mut Memory) -> Result<(), Error> {
        self.load_with(memory, &HashMap::new())
    }

    /// As [`Module::load`]; the variables of these names have the caller's memory, at these addresses.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn load_with(
        &self,
        memory: &mut Memory,
        places: &HashMap<String, u64>,
    ) -> Result<(), Error> {
        if memory.module_symbols(self.id).is_some() {
            return Ok(());
        }
        let mut symbols = HashMap::new();
        for variable in &self.code.variables {
            let address = match places.get(&variable.name) {
                Some(address) => *address,
                None => {
                    let address = memory.allocate_named(variable.bytes, &variable.name)?;
                    if variable.space == VariableSpace::Constant {
                        memory.make_constant(address);
                    }
                    address
                }
            };
            symbols.insert(variable.name.clone(), (address, variable.bytes));
        }
        for variable in &self.code.variables {
            let (address, _) = symbols[&variable.name];
            let mut initial = variable.initial.clone();
            for relocation in &variable.relocations {
                let base = match &relocation.target {
                    Target::Variable(name) => symbols.get(name).map_or(0, |s| s.0),
                    Target::Value(value) => *value,
                };
                let value = base.wrapping_add(relocation.offset as u64) >> relocation.shift;
                let bytes = value.to_le_bytes();
                let count = relocation.bytes as usize;
                initial[relocation.at..relocation.at + count].copy_from_slice(&bytes[..count]);
            }
            memory.write(address, &initial)?;
            // The rest is zero by definition, not merely unwritten.
            let rest = variable.bytes as usize - initial.len();
            memory.fill(address + initial.len() as u64, 0, rest)?;
        }
        memory.set_module_symbols(self.id, symbols);
        Ok(())
    }

    /// Frees the module's variables, without those that were given a place.
    pub fn unload(&self, memory: &mut Memory) {
        memory.remove_module(self.id);
    }

    /// Address and size of a variable, once the module is loaded.
    pub fn symbol(&self, memory: &Memory, name: &str) -> Option<(u64, u64)> {
        memory.module_symbols(self.id)?.get(name).copied()
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

fn type_of(variable: &Variable<'_>) -> Result<Type, Error> {
    Type::parse(variable.element).ok_or_else(|| Error::Unsupported {
        position: variable.position,
        what: format!(".{} .{}", variable.space, variable.element),
    })
}

fn parameters(variables: &[Variable<'_>]) -> Result<Vec<Parameter>, Error> {
    let mut all = Vec::new();
    let mut offset = 0u64;
    for variable in variables {
        let t = type_of(variable)?;
        let bytes = variable.elements.unwrap_or(0).saturating_mul(t.bytes() as u64);
        let alignment = variable.alignment.max(t.bytes() as u64);
        offset = offset.next_multiple_of(alignment);
        if offset.saturating_add(bytes) > 32764 {
            return Err(Error::Invalid {
                position: variable.position,
                message: "more than 32764 bytes of kernel parameters".into(),
            });
        }
        let kind = if variable.is_array {
            ParameterKind::Bytes
        } else if variable.is_pointer {
            ParameterKind::Pointer
        } else {
            ParameterKind::Scalar
        };
        all.push(Parameter {
            name: variable.name.into(),
            offset: offset as u32,
            bytes: bytes as u32,
            alignment: alignment as u32,
            kind,
            element: variable.element.into(),
        });
        offset += bytes;
    }
    Ok(all)
}

/// Bytes of constant memory that a module may declare.
const CONSTANT_BYTES_MAX: u64 = 64 << 10;

fn variables(tree: &Tree<'_>, context: &Context<'_, '_>) -> Result<Vec<ModuleVariable>, Error> {
    let mut all: Vec<ModuleVariable> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut constant_bytes = 0_u64;
    for variable in &tree.variables {
        let space = match variable.space {
            "global" => VariableSpace::Global,
            "const" => VariableSpace::Constant,
            _ => continue,
        };
        // Texture references and other opaque types exist only as names.
        let Some(t) = Type::parse(variable.element) else { continue };
        let bytes = variable.elements.unwrap_or(0).saturating_mul(t.bytes() as u64);
        let position = variable.position;
        let mut one = ModuleVariable {
            name: variable.name.into(),
            space,
            bytes,
            alignment: variable.alignment.max(t.bytes() as u64),
            is_managed: variable.is_managed,
            initial: Vec::new(),
            relocations: Vec::new(),
        };
        if variable.initial.len() as u64 > variable.elements.unwrap_or(0) {
            let message = format!("too many initial values for `{}`", variable.name);
            return Err(Error::Invalid { position, message });
        }
        for initial in &variable.initial {
            append(&mut one, initial, t, context);
        }
        if let Some(place) = places.get(variable.name) {
            let known = &mut all[*place];
            if known.initial.is_empty() {
                *known = one;
            }
            continue;
        }
        if space == VariableSpace::Constant {
            constant_bytes = constant_bytes.saturating_add(bytes);
            if constant_bytes > CONSTANT_BYTES_MAX {
                let message = format!(
                    "a module has at most {CONSTANT_BYTES_MAX} bytes of constant memory, with `{}` it \
                     would be {constant_bytes}: put a table into global memory",
                    variable.name
                );
                return Err(Error::Invalid { position, message });
            }
        }
        places.insert(variable.name, all.len());
        all.push(one);
    }
    Ok(all)
}

fn append(
    variable: &mut ModuleVariable,
    initial: &Initial<'_>,
    t: Type,
    context: &Context<'_, '_>,
) {
    let count = t.bytes() as usize;
    let at = variable.initial.len();
    let bits = match *initial {
        Initial::Integer(value) if t == Type::F32 => (value as f32).to_bits() as u64,
        Initial::Integer(value) if t == Type::F64 => (value as f64).to_bits(),
        Initial::Integer(value) => value as u64,
        Initial::Single(bits) if t == Type::F64 => (f32::from_bits(bits) as f64).to_bits(),
        Initial::Single(bits) => bits as u64,
        Initial::Double(bits) if t == Type::F32 => (f64::from_bits(bits) as f32).to_bits() as u64,
        Initial::Double(bits) => bits,
        Initial::Symbol { name, offset, mask } => {
            let shift = mask.map_or(0, u64::trailing_zeros).min(63);
            let target = match context.functions.get(name) {
                Some(index) => Target::Value(context.function_address(*index)),
                None => Target::Variable(name.into()),
            };
            let bytes = t.bytes().min(8);
            variable.relocations.push(Relocation { at, bytes, target, offset, shift });
            0
        }
    };
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&bits.to_le_bytes());
    variable.initial.extend_from_slice(&bytes[..count]);
}

/// Decodes a text one instruction at a time is not possible, so kernels are tried repeatedly with
/// the failing opcode noted; counting needs only the tree.
fn coverage(source: &str) -> Vec<Coverage> {
    use ptx::tree::Statement;
    let Ok(tree) = parse(source) else { return Vec::new() };
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for function in &tree.functions {
        function.visit(&mut |statement| {
            if let Statement::Instruction(instruction) = statement {
                *counts.entry(instruction.text()).or_default() += 1;
            }
        });
    }
    let context = Context::new(&tree);
    let mut problems: HashMap<String, Error> = HashMap::new();
    for (index, function) in tree.functions.iter().enumerate() {
        if function.is_entry
            && function.body.is_some()
            && let Err(Error::Unsupported { position, what }) = decode(&context, index)
        {
            let error = Error::Unsupported { position, what: what.clone() };
            problems.insert(what, error);
        }
    }
    counts
        .into_iter()
        .map(|(instruction, count)| {
            let problem = problems.remove(&instruction);
            Coverage { instruction, count, problem }
        })
        .collect()
}
