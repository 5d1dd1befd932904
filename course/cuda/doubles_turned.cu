extern "C" __global__ void doubles_turned(const double *source, double *target, unsigned rows, unsigned columns) {
    // learn: your code
    const unsigned PITCH = 33;
    // learn: instead
    //| // TODO: in which two banks does element (row, column) lie?
    //| const unsigned PITCH = 32;
    // learn: end
    __shared__ double tile[32 * PITCH];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned first_column = blockIdx.x * 32, first_row = blockIdx.y * 32;
    unsigned row = first_row + y, column = first_column + x;
    if (row < rows && column < columns) tile[y * PITCH + x] = source[row * columns + column];
    __syncthreads();
    // Now lanes follow a column of the tile, which becomes a row of the target.
    row = first_row + x, column = first_column + y;
    if (row < rows && column < columns) target[column * rows + row] = tile[x * PITCH + y];
}
