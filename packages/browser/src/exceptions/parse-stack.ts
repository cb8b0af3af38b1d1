/** A place in the code that was running. */
export interface StackFrame {
  platform: 'web:javascript';
  filename: string;
  function: string;
  /** False: of the browser or an extension. */
  in_app: boolean;
  lineno?: number;
  colno?: number;
}

const mostFrames = 50;
const longestLine = 1024;

/** The frames of an error's `stack` as Chrome, Firefox and Safari write it, the outermost call first. */
export function parseStack(stack: string): StackFrame[] {
  // Chrome puts the message before the frames, and a message may look like a frame of Firefox.
  const parseLine = /^\s*at /m.test(stack) ? chromeFrame : geckoFrame;
  const frames: StackFrame[] = [];
  for (const line of stack.split('\n')) {
    const found = line.length <= longestLine && parseLine(line);
    if (found && frames.push(found) === mostFrames) break;
  }
  return frames.reverse();
}

/** `at name (place)`, `at place`, and of `eval` the place that called it. */
function chromeFrame(line: string): StackFrame | undefined {
  const [, name, place, onlyPlace] = /^\s*at (?:(.*?) \((.*)\)|(?:async )?(.+?))\s*$/.exec(line) ?? [];
  const at = place ?? onlyPlace;
  if (at === undefined) return undefined;
  return frame(name, at.startsWith('eval') ? (/\((\S*:\d+:\d+)\)/.exec(at)?.[1] ?? at) : at);
}

/** `name@place`, `@place`, and Safari's `place` alone. */
function geckoFrame(line: string): StackFrame | undefined {
  const [, name, at] = /^\s*(?:(.*?)@)?(\S*?\[native code\]|\S.*?(?::\d+|\.js))\s*$/.exec(line) ?? [];
  return at === undefined ? undefined : frame(name, at.replace(/ line (\d+)(?: > eval line \d+)* > eval.*/, ':$1'));
}

function frame(name: string | undefined, place: string): StackFrame {
  const [, filename = '', lineno, colno] = /^(.*?)(?::(\d+))?(?::(\d+))?$/.exec(place) ?? [];
  return {
    platform: 'web:javascript',
    filename,
    function: !name || name === '<anonymous>' ? '?' : name,
    in_app: isOfPage(filename),
    ...(lineno && { lineno: Number(lineno) }),
    ...(colno && { colno: Number(colno) }),
  };
}

const pageSchemes = /^(https?|file|blob|app|capacitor|ionic|webpack|webpack-internal|ng)$/i;

function isOfPage(filename: string): boolean {
  const scheme = /^([a-z][a-z0-9.+-]+):/i.exec(filename)?.[1];
  return filename !== '' && filename !== '<anonymous>' && (!scheme || pageSchemes.test(scheme));
}
