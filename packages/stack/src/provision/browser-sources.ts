import { hasProgram, runProgram } from '../process/run-program.ts';
import { serverAt } from '../process/running-server.ts';
import { canInstallDebianPackages, installDebianPackages } from './debian.ts';
import type { Source } from './provision.ts';

interface Browser {
  /** Of the environment, with the path of its program. */
  variable: 'CHROMIUM_PATH' | 'FIREFOX_PATH';
  /** Of its program. */
  names: string[];
  debianPackage: string;
}

/** For the tests of browser SDKs and of the browser library. */
export const chromiumSources = (): Source[] =>
  browserSources({
    variable: 'CHROMIUM_PATH',
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    debianPackage: 'chromium',
  });

/** For the tests of the browser library. */
export const firefoxSources = (): Source[] =>
  browserSources({ variable: 'FIREFOX_PATH', names: ['firefox-esr', 'firefox'], debianPackage: 'firefox-esr' });

/**
 * A browser, in the order of servers: a path given, a local program, and as root on Debian the package. No server is
 * started; its address is the program's path.
 */
function browserSources({ variable, names, debianPackage }: Browser): Source[] {
  const path = process.env[variable] ?? '';
  return [
    {
      name: variable,
      async unavailable() {
        if (path === '') return 'not set';
        return (await hasProgram(path)) ? null : 'no program there';
      },
      start: async () => serverAt(path),
    },
    {
      name: 'a local program',
      unavailable: async () => ((await findLocal(names)) ? null : `none of ${names.join(', ')} is on the PATH`),
      start: async () => serverAt(await findLocal(names)),
    },
    {
      name: 'Debian packages',
      unavailable: async () => (canInstallDebianPackages() ? null : 'installing needs root on Debian'),
      async start() {
        await installDebianPackages([debianPackage]);
        return serverAt(await findLocal(names));
      },
    },
  ];
}

/** Empty when there is none. */
async function findLocal(names: string[]): Promise<string> {
  for (const name of names) {
    const { status, output } = await runProgram('sh', ['-c', 'command -v "$1"', 'sh', name]);
    if (status === 0) return output.trim();
  }
  return '';
}
