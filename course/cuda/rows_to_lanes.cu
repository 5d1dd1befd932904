extern "C" __global__ void rows_to_lanes(const float *source, float *target, unsigned width, unsigned height) {
    unsigned pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= width * height) return;
    // learn: your code
    unsigned row = pixel / width, column = pixel % width;
    // learn: instead
    //| // TODO: lane 0 takes row 0, lane 1 takes row 1, .. Which sectors do they touch?
    //| unsigned row = pixel % height, column = pixel / height;
    // learn: end
    unsigned at = row * width + column;
    target[at] = 2.0f * source[at];
}
