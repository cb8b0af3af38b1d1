/** Tells the third of three clicks at one place, each within a second of the one before. */
export function createRageClick(): (event: MouseEvent) => boolean {
  let last: [x: number, y: number, time: number] = [0, 0, Number.NEGATIVE_INFINITY];
  let count = 0;
  return ({ clientX, clientY, timeStamp }) => {
    const [x, y, time] = last;
    const isNear = Math.abs(clientX - x) + Math.abs(clientY - y) < 30 && timeStamp - time < 1000;
    last = [clientX, clientY, timeStamp];
    count = isNear ? count + 1 : 1;
    return count === 3;
  };
}
