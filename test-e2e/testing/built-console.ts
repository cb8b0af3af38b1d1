import { writeConsole } from '@millrace/console/bundle';
import { type BuiltDirectory, buildOnce } from './build-once.ts';

/**
 * Builds the console's static files once per run.
 * @param marksWords whether to put every string of the `words.ts` files between ⟦ and ⟧
 */
export const builtConsole = ({ marksWords = false } = {}): Promise<BuiltDirectory> =>
  buildOnce(marksWords ? 'console-with-marked-words' : 'console', (directory) =>
    writeConsole(directory, { isQuick: true, marksWords }),
  );
