import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { eventually } from '@millrace/testing';
import type { UnpackedImage } from './unpack-image.ts';

/** A program that runs as in a container, but on the network of this machine. */
export interface Container {
  /** Resolves with the exit code, or null after a signal. */
  ended: Promise<number | null>;
  /** Returns the output of the program on both streams. */
  output(): string;
  /** Sends a signal to process 1, which is the program. */
  signal(name: NodeJS.Signals): void;
  /** Waits until the program logs its port, and returns it. */
  port(): Promise<number>;
}

export interface ContainerOptions {
  /** Arguments of the program, after the entrypoint. */
  words: readonly string[];
  /** A command that replaces the entrypoint of the image. */
  entrypoint?: readonly string[];
  settings?: Record<string, string>;
  /** User that replaces the one of the image, as `uid:gid`. */
  user?: string;
}

/**
 * Mounts the image read-only, with the devices of this machine and a separate process namespace. The last command
 * replaces the shell and becomes process 1.
 */
const enter = `
root=$1 user=$2 folder=$3; shift 3
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && mount --rbind /dev "$root/dev" &&
mount -t proc proc "$root/proc" && exec unshare --root="$root" --wd="$folder" --setgid="\${user#*:}" --setuid="\${user%:*}" "$@"
`;

/** Returns the reason why containers cannot be created on this machine. Empty if they can. */
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

/**
 * Starts a program with the environment variables of the image and the given settings, but without any variable of this
 * process.
 */
export function startContainer(
  image: UnpackedImage,
  { words, settings = {}, user, entrypoint }: ContainerOptions,
): Container {
  const { Env, Entrypoint, User, WorkingDir } = image.config.config;
  const child = spawn(
    // The namespace ends with the test, even if the test is killed.
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

/** Returns the first child of a process. `unshare` is the parent of process 1 and does not forward signals. */
function firstChildOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
