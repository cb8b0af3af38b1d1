/** Something that waits until a test lets it go: `after` of a scripted answer. */
interface Hold {
  after: Promise<void>;
  release(): void;
}

export function hold(): Hold {
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { after, release };
}
