interface Click {
  x: number;
  y: number;
  time: number;
}

/** Tells the third of three clicks at one place, each within a second of the one before. */
export function createRageClick(): (event: MouseEvent) => boolean {
  let last: Click = { x: 0, y: 0, time: Number.NEGATIVE_INFINITY };
  let count = 0;
  return ({ clientX: x, clientY: y, timeStamp: time }) => {
    const isNear = Math.abs(x - last.x) + Math.abs(y - last.y) < 30 && time - last.time < 1000;
    last = { x, y, time };
    count = isNear ? count + 1 : 1;
    return count === 3;
  };
}
