import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';

/** True where packages can be installed: as root, on Debian or what is made from it. */
export function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get');
}

let queue: Promise<unknown> = Promise.resolve();
let isListFresh = false;

/**
 * Installs Debian packages, one call after the other: apt allows only one at a time.
 * @throws SetupProblem with apt's words.
 */
export function installDebianPackages(names: readonly string[]): Promise<void> {
  const installed = queue.then(() => install(names));
  queue = installed.catch(() => {});
  return installed;
}

async function install(names: readonly string[]): Promise<void> {
  const apt = async (...words: string[]) => {
    const { status, output } = await runProgram('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) {
      const end = output.trim().split('\n').slice(-5).join('\n');
      throw new SetupProblem(`apt-get could not install ${names.join(', ')}:\n${end}`);
    }
  };
  if (!isListFresh) await apt('update', '-q');
  isListFresh = true;
  await withoutStartingServices(() => apt('install', '-y', '-q', '--no-install-recommends', ...names));
}

/** A Debian package starts its service when it is installed, unless this file says no. We run servers of our own. */
async function withoutStartingServices(work: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    rmSync(policy, { force: true });
  }
}
