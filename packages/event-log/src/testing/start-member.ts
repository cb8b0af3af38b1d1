import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MemberArguments } from './member-process.ts';

const program = fileURLToPath(new URL('./member-process.ts', import.meta.url));
const repository = fileURLToPath(new URL('../../../../', import.meta.url));

export interface MemberProcess {
  /** Resolves once the member has joined its group; rejects when it ends before. */
  ready: Promise<void>;
  /** SIGKILL: no good-bye, no clean-up. */
  kill(): Promise<void>;
}

/** Starts a consumer as a child process. */
export function startMember(args: MemberArguments): MemberProcess {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', program, JSON.stringify(args)], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors += data;
  });
  const exited = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    exited.then(() => reject(new Error(`the member ended before it was ready: ${errors}`)));
  });
  ready.catch(() => {});
  return {
    ready,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
