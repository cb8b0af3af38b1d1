import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { readDebianFiles } from '../parts/debian-files.ts';

/** A node's programs from Debian packages, without the kubelet. */
export interface NodePrograms {
  containerd: string;
  ctr: string;
  runc: string;
  cniPlugins: string;
  /** Environment variables for containerd's shim, iptables and conntrack, with the paths of their libraries. */
  env: Record<string, string | undefined>;
}

const packages = [
  ...['containerd', 'runc', 'containernetworking-plugins'],
  ...['iptables', 'libxtables12', 'libnftnl11', 'libmnl0', 'libip4tc2', 'libip6tc2'],
  ...['conntrack', 'libnetfilter-conntrack3', 'libnfnetlink0', 'libseccomp2', 'ipset', 'libipset13'],
];

export function fetchNodeFiles(): Promise<string> {
  return readDebianFiles('node', packages);
}

/** @param directory the directory for the links that an installation of the packages would create */
export async function prepareNodePrograms(directory: string): Promise<NodePrograms> {
  const root = await fetchNodeFiles();
  const iptables = join(directory, 'iptables');
  linkIptables(join(root, 'usr/sbin/xtables-nft-multi'), iptables);
  const { PATH = '', ...env } = readEnvironment();
  const libraries = ['usr/lib', 'lib'].map((place) => join(root, place, 'x86_64-linux-gnu'));
  return {
    containerd: join(root, 'usr/bin/containerd'),
    ctr: join(root, 'usr/bin/ctr'),
    runc: join(root, 'usr/sbin/runc'),
    cniPlugins: join(root, 'usr/lib/cni'),
    env: {
      ...env,
      PATH: [iptables, join(root, 'usr/bin'), join(root, 'usr/sbin'), '/usr/sbin:/sbin', PATH].join(':'),
      LD_LIBRARY_PATH: libraries.join(':'),
      XTABLES_LIBDIR: join(root, 'usr/lib/x86_64-linux-gnu/xtables'),
    },
  };
}

/**
 * Creates the links to iptables that an installation of the package would create. iptables is a single binary that acts
 * as several programs, depending on the name of the link.
 */
function linkIptables(program: string, directory: string): void {
  if (existsSync(directory)) return;
  mkdirSync(directory);
  for (const family of ['iptables', 'ip6tables']) {
    for (const name of [family, `${family}-save`, `${family}-restore`]) symlinkSync(program, join(directory, name));
  }
}
