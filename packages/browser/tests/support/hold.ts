/** Delays a scripted response until the test calls `release`. */
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
