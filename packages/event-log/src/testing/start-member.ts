import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { MemberArguments } from './member-process.ts';

export const memberProgram = 'packages/event-log/src/testing/member-process.ts';

export interface MemberProcess {
  /** Resolves when the member has joined its group. Rejects if the member exits before that. */
  ready: Promise<void>;
  /** Sends SIGKILL, so that the member neither deregisters nor cleans up. */
  kill(): Promise<void>;
}

/** Starts a consumer as a child process. @param program the path of the compiled member-process.ts */
export function startMember(program: string, args: MemberArguments): MemberProcess {
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(args)], {
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
