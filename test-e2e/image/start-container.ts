import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { eventually } from '@millrace/testing';
import type { UnpackedImage } from './unpack-image.ts';

/** A program that runs as a container's runtime would run it, on the network of this machine. */
export interface Container {
  /** Resolves with the exit code; null for a signal. */
  ended: Promise<number | null>;
  /** What it has said, on both streams. */
  output(): string;
  /** To process 1, which is the program itself. */
  signal(name: NodeJS.Signals): void;
  /** Where it listens, once it says so. */
  port(): Promise<number>;
}

export interface ContainerOptions {
  /** What stands after the entrypoint. */
  words: readonly string[];
  /** Instead of the image's. */
  entrypoint?: readonly string[];
  settings?: Record<string, string>;
  /** `uid:gid` instead of the image's. */
  user?: string;
}

/**
 * A mount of the image that cannot be written to, the devices of this machine, processes of its own. What follows the
 * user and the folder to start in is run in place of this shell: it is process 1.
 */
const enter = `
root=$1 user=$2 folder=$3; shift 3
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && mount --rbind /dev "$root/dev" &&
mount -t proc proc "$root/proc" && exec unshare --root="$root" --wd="$folder" --setgid="\${user#*:}" --setuid="\${user%:*}" "$@"
`;

/** Why containers cannot be made here; empty when they can. */
export function whyNoContainers(): string {
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

/** Nothing of this process's environment is seen by it but what the image and the settings say. */
export function startContainer(
  image: UnpackedImage,
  { words, settings = {}, user, entrypoint }: ContainerOptions,
): Container {
  const { Env, Entrypoint, User, WorkingDir } = image.config.config;
  const child = spawn(
    // The namespace goes with the test, however that ends.
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
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    ended,
    output: () => said,
    signal: (name) => void process.kill(firstChildOf(child), name),
    port: () =>
      eventually(
        () => {
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
          return Number(said.match(/"message":"listening","port":(\d+)/)?.[1] ?? 0) || false;
        },
        { what: `Listening of ${words.join(' ')}`, describe: () => said.slice(-4000) },
      ),
  };
}

/** `unshare` waits outside for process 1, and does not pass signals on. */
function firstChildOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
