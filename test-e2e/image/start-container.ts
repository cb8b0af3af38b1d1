import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { eventually } from '@millrace/testing';
import type { UnpackedImage } from './unpack-image.ts';

/** A program that runs as in a container, but with this machine's network. */
export interface Container {
  /** Resolves with the exit code, or null after a signal. */
  ended: Promise<number | null>;
  /** Returns standard output and standard error. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Waits until the program logs its port, and returns the port. */
  port(): Promise<number>;
}

export interface ContainerOptions {
  words: readonly string[];
  /** Replaces the image's entrypoint. */
  entrypoint?: readonly string[];
  settings?: Record<string, string>;
  /** Replaces the image's user. The format is `uid:gid`. */
  user?: string;
}

/**
 * Mounts the image read-only, with this machine's devices and a separate process namespace. The last command replaces
 * the shell and becomes process 1.
 */
const enter = `
root=$1 user=$2 folder=$3; shift 3
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && mount --rbind /dev "$root/dev" &&
mount -t proc proc "$root/proc" && exec unshare --root="$root" --wd="$folder" --setgid="\${user#*:}" --setuid="\${user%:*}" "$@"
`;

/** Returns why this machine cannot create containers, or an empty string if it can. */
export function explainMissingContainers(): string {
  const { status, stderr, error } = spawnSync('unshare', [
    '--mount',
    '--pid',
    '--fork',
    'mount',
    '-t',
    'tmpfs',
    'none',
    '/mnt',
  ]);
  return status === 0 ? '' : (error?.message ?? String(stderr)).trim();
}

/**
 * Starts a program with the image's environment variables and the given settings, but without this process's variables.
 */
export function startContainer(
  image: UnpackedImage,
  { words, settings = {}, user, entrypoint }: ContainerOptions,
): Container {
  const { Env, Entrypoint, User, WorkingDir } = image.config.config;
  const child = spawn(
    // End the namespace with the test, even if the test is killed.
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child'],
      ...['sh', '-c', enter, 'enter', image.rootfs, user ?? User, WorkingDir, ...(entrypoint ?? Entrypoint), ...words],
    ],
    {
      env: { ...Object.fromEntries(Env.map((line) => line.split(/=(.*)/s, 2))), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    ended,
    output: () => output,
    signal: (name) => void process.kill(firstChildOf(child), name),
    port: () =>
      eventually(
        () => {
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
          return Number(output.match(/"message":"listening","port":(\d+)/)?.[1] ?? 0) || false;
        },
        { what: `Listening of ${words.join(' ')}`, describe: () => output.slice(-4000) },
      ),
  };
}

/** Returns a process's first child. Process 1 is the child of `unshare`, which does not forward signals. */
function firstChildOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
