import { hasProgram, runProgram } from '../process/run-program.ts';
import { serverAt } from '../process/running-server.ts';
import { canInstallDebianPackages, installDebianPackages } from './debian.ts';
import type { Source } from './provision.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * A browser for the tests of browser SDKs, in the order of servers: a path given, a local program, and as root on Debian
 * the package. No server is started; its address is the program's path.
 */
export function chromiumSources(): Source[] {
  const path = process.env.CHROMIUM_PATH ?? '';
  return [
    {
      name: 'CHROMIUM_PATH',
      async unavailable() {
        if (path === '') return 'not set';
        return (await hasProgram(path)) ? null : 'no program there';
      },
      start: async () => serverAt(path),
    },
    {
      name: 'a local program',
      unavailable: async () => ((await findLocal()) ? null : `none of ${names.join(', ')} is on the PATH`),
      start: async () => serverAt(await findLocal()),
    },
    {
      name: 'Debian packages',
      unavailable: async () => (canInstallDebianPackages() ? null : 'installing needs root on Debian'),
      async start() {
        await installDebianPackages(['chromium']);
        return serverAt(await findLocal());
      },
    },
  ];
}

/** Empty when there is none. */
async function findLocal(): Promise<string> {
  for (const name of names) {
    const { status, output } = await runProgram('sh', ['-c', 'command -v "$1"', 'sh', name]);
    if (status === 0) return output.trim();
  }
  return '';
}
