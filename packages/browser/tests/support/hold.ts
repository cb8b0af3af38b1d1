/** With `after`, a scripted response is sent only when the test calls `release`. */
interface Hold {
  after: Promise<void>;
  release(): void;
}

export function createHold(): Hold {
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { after, release };
}
