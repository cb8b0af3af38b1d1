const steps = ['MiB', 'GiB', 'TiB'];

/** A number of bytes for a person. */
export function shownBytes(bytes: number): string {
  let amount = bytes / 1024 / 1024;
  let step = 0;
  while (amount >= 1024 && step < steps.length - 1) {
    amount /= 1024;
    step += 1;
  }
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${steps[step]}`;
}
