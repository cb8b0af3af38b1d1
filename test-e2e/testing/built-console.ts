import { writeConsole } from '@millrace/console/bundle';
import { type BuiltDirectory, buildOnce } from './build-once.ts';

/**
 * The console's static files, built once per run.
 * @param marksWords every word of the catalogue stands between ⟦ and ⟧
 */
export const builtConsole = ({ marksWords = false } = {}): Promise<BuiltDirectory> =>
  buildOnce(marksWords ? 'console-with-marked-words' : 'console', (directory) =>
    writeConsole(directory, { isQuick: true, marksWords }),
  );
