import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { isRunning } from '../servers/server-process.ts';

export function findProcesses(text: string): number[] {
  return allProcesses().filter((pid) => pid !== process.pid && isRunning(pid, text));
}

function allProcesses(): number[] {
  const names =
    process.platform === 'linux'
      ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
      : spawnSync('ps', ['-axo', 'pid='], { encoding: 'utf8' }).stdout.split('\n');
  return names.map(Number).filter((pid) => pid > 0);
}
