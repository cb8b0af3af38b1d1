import { addReactComponentStack } from './errors.ts';

const stack = '\n    in CrashingComponent';

it("adds the component stack as the last cause, with the error's message and a React name", () => {
  const nested = new TypeError('nested');
  const error = new RangeError('outer', { cause: new Error('inner', { cause: nested }) });
  expect(addReactComponentStack(error, stack)).toBe(error);
  expect(nested.cause).toMatchObject({ name: 'React ErrorBoundary RangeError', message: 'outer', stack });
});

it.each([
  ['an empty stack', '', new Error('boom')],
  ['a missing stack', undefined, new Error('boom')],
])('adds no component stack to the causes for %s', (_, componentStack, error) => {
  expect(addReactComponentStack(error, componentStack)).toBe(error);
  expect(error.cause).toBeUndefined();
});

it('adds a component stack to circular causes without looping, and leaves a frozen error unchanged', () => {
  const one = new Error('one');
  const other = new Error('other', { cause: one });
  one.cause = other;
  const frozen = Object.freeze(new Error('boom'));
  for (const error of [one, frozen]) expect(addReactComponentStack(error, stack)).toBe(error);
  expect(one.cause).toBe(other);
  expect(other.cause).toMatchObject({ name: 'React ErrorBoundary Error', stack });
  expect(frozen.cause).toBeUndefined();
});

it.each([
  ['an error', new Error('boom'), (captured: Error) => captured.cause as Error],
  ['a string', 'boom', (captured: Error) => captured],
])("sets the added error's name even if the page has made error names read-only: %s", (_, thrown, added) => {
  const descriptor = Object.getOwnPropertyDescriptor(Error.prototype, 'name') as PropertyDescriptor;
  Object.defineProperty(Error.prototype, 'name', { value: 'Error', writable: false });
  try {
    expect(added(addReactComponentStack(thrown, stack) as Error).name).toBe('React ErrorBoundary Error');
  } finally {
    Object.defineProperty(Error.prototype, 'name', descriptor);
  }
});
