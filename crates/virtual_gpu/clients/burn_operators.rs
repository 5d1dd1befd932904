//! burn on the CUDA back end: tensor operators, a convolution's gradients and a network in training, each compared with burn's
//! CPU back end. Says how many agree.

use burn::backend::{Autodiff, Cuda, NdArray};
use burn::module::Module;
use burn::nn::conv::Conv2dConfig;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{LayerNormConfig, Linear, LinearConfig, Relu};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::activation::{gelu, log_softmax, softmax};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Distribution, Int, Tensor, TensorData, Tolerance};

/// Numbers that are the same on both back ends.
fn data<const D: usize>(shape: [usize; D], seed: u64) -> TensorData {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    TensorData::new((0..shape.iter().product()).map(|_| next()).collect::<Vec<f32>>(), shape)
}

fn tensor<B: Backend, const D: usize>(shape: [usize; D], seed: u64) -> Tensor<B, D> {
    Tensor::from_data(data(shape, seed), &B::Device::default())
}

type Case = (&'static str, TensorData);

fn operators<B: Backend>() -> Vec<Case> {
    let device = &B::Device::default();
    let x = tensor::<B, 2>([37, 129], 1);
    let y = tensor::<B, 2>([37, 129], 2);
    let batch = || tensor::<B, 3>([3, 33, 65], 3);
    let image = tensor::<B, 4>([2, 3, 17, 19], 5);
    let rows: Vec<i64> = (0..3 * 129).map(|i| i * 11 % 37).collect();
    let places = Tensor::<B, 1, Int>::from_data(&rows[..], device).reshape([3, 129]);
    let values = tensor::<B, 2>([3, 129], 6);
    vec![
        (
            "add, multiply, divide",
            (x.clone() * y.clone() + x.clone() / (y.clone() + 3.0)).into_data(),
        ),
        (
            "exp, log, sqrt, tanh, erf",
            (x.clone().exp().log() + x.clone().abs().sqrt().tanh().erf()).into_data(),
        ),
        ("broadcast", (x.clone() + y.clone().slice([0..1])).into_data()),
        ("transpose and slice", x.clone().transpose().slice([3..100, 5..30]).into_data()),
        (
            "flip, repeat, cat",
            Tensor::cat(vec![x.clone().flip([1]), y.clone().repeat_dim(0, 2)], 0).into_data(),
        ),
        (
            "sum, mean, variance",
            Tensor::cat(vec![x.clone().sum_dim(1), x.clone().mean_dim(1), x.clone().var(1)], 1)
                .into_data(),
        ),
        ("sum of all", x.clone().sum().into_data()),
        ("maximum, minimum", (x.clone().max_dim(0) - x.clone().min_dim(0)).into_data()),
        ("argmax", x.clone().argmax(1).float().into_data()),
        ("cumulative sum", x.clone().cumsum(1).into_data()),
        ("sort", x.clone().sort(1).into_data()),
        (
            "compare and select",
            x.clone().mask_where(x.clone().greater(y.clone()), y.clone()).into_data(),
        ),
        ("gather", x.clone().gather(0, places.clone()).into_data()),
        (
            "scatter",
            x.clone().scatter(0, places, values, burn::tensor::IndexingUpdateOp::Add).into_data(),
        ),
        ("product", batch().matmul(tensor::<B, 3>([3, 65, 130], 4)).into_data()),
        (
            "product, large",
            tensor::<B, 2>([256, 256], 7).matmul(tensor::<B, 2>([256, 256], 8)).into_data(),
        ),
        ("softmax", softmax(x.clone(), 1).into_data()),
        ("log_softmax and gelu", (log_softmax(x.clone(), 1) + gelu(y.clone())).into_data()),
        ("layer_norm", LayerNormConfig::new(129).init::<B>(device).forward(x.clone()).into_data()),
        (
            "max_pool2d",
            burn::tensor::module::max_pool2d(image.clone(), [3, 3], [2, 2], [1, 1], [1, 1], false)
                .into_data(),
        ),
        (
            "avg_pool2d",
            burn::tensor::module::avg_pool2d(image.clone(), [3, 3], [2, 2], [1, 1], true, false)
                .into_data(),
        ),
        (
            "conv2d",
            burn::tensor::module::conv2d(
                image,
                tensor([4, 3, 3, 3], 9),
                None,
                burn::tensor::ops::ConvOptions::new([1, 1], [1, 1], [1, 1], 1),
            )
            .into_data(),
        ),
        ("random numbers lie in their range", random_in_range::<B>()),
    ]
}

fn random_in_range<B: Backend>() -> TensorData {
    let x = Tensor::<B, 1>::random([5000], Distribution::Uniform(2.0, 3.0), &B::Device::default());
    let (least, most) = (x.clone().min().into_scalar(), x.max().into_scalar());
    use burn::tensor::ElementConversion;
    let is_inside = least.elem::<f32>() >= 2.0 && most.elem::<f32>() <= 3.0;
    TensorData::from([f32::from(u8::from(is_inside))])
}

#[derive(Module, Debug)]
struct Network<B: Backend> {
    first: Linear<B>,
    last: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Network<B> {
    fn new() -> Self {
        let device = &B::Device::default();
        let linear = |inputs: usize, outputs: usize, seed| {
            let mut linear = LinearConfig::new(inputs, outputs).init::<B>(device);
            linear.weight = linear.weight.map(|_| tensor::<B, 2>([inputs, outputs], seed) * 0.2);
            linear.bias = linear.bias.map(|bias| bias.map(|_| Tensor::zeros([outputs], device)));
            linear
        };
        Network { first: linear(64, 48, 11), last: linear(48, 10, 12), activation: Relu::new() }
    }

    fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.last.forward(self.activation.forward(self.first.forward(x)))
    }
}

/// The losses of ten steps of Adam.
fn training<B: AutodiffBackend>() -> Case {
    let device = &B::Device::default();
    let mut network = Network::<B>::new();
    let mut adam = AdamConfig::new().init();
    let classes: Vec<i64> = (0..32).map(|i| i * 7 % 10).collect();
    let mut losses = Vec::new();
    for _ in 0..10 {
        let output = network.forward(tensor([32, 64], 13));
        let classes = Tensor::<B, 1, Int>::from_data(&classes[..], device);
        let loss = CrossEntropyLossConfig::new().init(device).forward(output, classes);
        losses.extend(loss.clone().into_data().iter::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = adam.step(0.01, network, gradients);
    }
    ("ten steps of Adam", TensorData::from(&losses[..]))
}

fn gradients<B: AutodiffBackend>() -> Vec<Case> {
    let device = &B::Device::default();
    let image = tensor::<B, 4>([2, 3, 12, 12], 14).require_grad();
    let mut conv = Conv2dConfig::new([3, 4], [3, 3]).with_bias(false).init::<B>(device);
    conv.weight = conv.weight.map(|_| tensor::<B, 4>([4, 3, 3, 3], 15).require_grad());
    let all = conv.forward(image.clone()).powi_scalar(2).sum().backward();
    vec![
        ("gradient of conv2d by its image", image.grad(&all).unwrap().into_data()),
        ("gradient of conv2d by its weights", conv.weight.val().grad(&all).unwrap().into_data()),
        training::<B>(),
    ]
}

fn all<B: AutodiffBackend>() -> Vec<Case> {
    operators::<B::InnerBackend>().into_iter().chain(gradients::<B>()).collect()
}

fn main() {
    let expected = all::<Autodiff<NdArray>>();
    let found = all::<Autodiff<Cuda>>();
    let mut failed = 0;
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        // burn multiplies matrices of f32 by the tensor cores, as tf32: factors have 10 bits of fraction.
        let absolute = if name.starts_with("product") { 1e-2 } else { 1e-4 };
        let compare =
            || found.assert_approx_eq::<f32>(expected, Tolerance::rel_abs(1e-3, absolute));
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare)).is_err() {
            println!("failed: {name}");
            failed += 1;
        }
    }
    println!("{} passed, {failed} failed, 0 skipped", found.len() - failed);
    std::process::exit(i32::from(failed > 0));
}
