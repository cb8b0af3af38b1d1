import { SetupProblem } from '../setup-problem.ts';

/** What differs between the machines an image is made for, in the words of each world. */
export interface Platform {
  /** Of Go, Docker and Debian. */
  architecture: 'amd64' | 'arm64';
  /** Of Node and npm. */
  cpu: 'x64' | 'arm64';
  /** Where Debian keeps its libraries: `/usr/lib/<triplet>`. */
  triplet: string;
  /** Where programs expect the loader, which lies among the libraries under the same name. */
  loader: string;
}

const platforms: readonly Platform[] = [
  {
    architecture: 'amd64',
    cpu: 'x64',
    triplet: 'x86_64-linux-gnu',
    loader: 'usr/lib64/ld-linux-x86-64.so.2',
  },
  {
    architecture: 'arm64',
    cpu: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'usr/lib/ld-linux-aarch64.so.1',
  },
];

/** The platform of this machine's processor, whatever its operating system. */
export function ownPlatform(): Platform {
  const own = platforms.find(({ cpu }) => cpu === process.arch);
  if (!own) throw new SetupProblem(`Images are made for linux/amd64 and linux/arm64; name one by --platform.`);
  return own;
}

/** @param list as Docker writes it: `linux/amd64,linux/arm64` */
export function parsePlatforms(list: string): Platform[] {
  const parsed = list.split(',').map((name) => {
    const platform = platforms.find(({ architecture }) => name.trim() === `linux/${architecture}`);
    if (!platform) throw new SetupProblem(`--platform ${list}: "${name}" is none of linux/amd64, linux/arm64.`);
    return platform;
  });
  return [...new Set(parsed)];
}
