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
  const pattern = /^\s*at /m.test(stack) ? chromeFrame : geckoFrame;
  const frames: StackFrame[] = [];
  for (const line of stack.split('\n')) {
    const [, name = '', place, onlyPlace = ''] = (line.length <= longestLine && pattern.exec(line)) || [];
    const at = place ?? onlyPlace;
    if (at && frames.push(frame(name, at)) === mostFrames) break;
  }
  return frames.reverse();
}

/** `at name (place)`, `at place`. */
const chromeFrame = /^\s*at (?:(.*?) \((.*)\)|(?:async )?(.+?))\s*$/;
/** `name@place`, `@place`, and Safari's `place` alone. */
const geckoFrame = /^\s*(?:(.*?)@)?(\S*?\[native code\]|\S.*?(?::\d+|\.js))\s*$/;
/** Where `eval` was called, as Chrome and as Firefox write it. */
const evalInChrome = /^eval.*?\((\S*:\d+:\d+)\).*/;
const evalInGecko = / line (\d+)(?: > eval line \d+)* > eval.*/;
const schemesOfPages =
  /^(?!<anonymous>$)(?:(?:https?|file|blob|app|capacitor|ionic|webpack|webpack-internal|ng):|(?![a-z][a-z0-9.+-]+:).)/i;

function frame(name: string, place: string): StackFrame {
  const [, filename = '', lineno, colno] =
    /^(.*?)(?::(\d+))?(?::(\d+))?$/.exec(place.replace(evalInChrome, '$1').replace(evalInGecko, ':$1')) ?? [];
  return {
    platform: 'web:javascript',
    filename,
    function: /^(<anonymous>)?$/.test(name) ? '?' : name,
    in_app: schemesOfPages.test(filename),
    ...(lineno && { lineno: Number(lineno) }),
    ...(colno && { colno: Number(colno) }),
  };
}
