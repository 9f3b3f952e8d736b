/** Slope of the least-squares line through values at even distances, in units of a value for one step. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [product, square] = [0, 0];
  values.forEach((value, at) => {
    product += (at - middle) * (value - mean);
    square += (at - middle) ** 2;
  });
  return square === 0 ? 0 : product / square;
}
