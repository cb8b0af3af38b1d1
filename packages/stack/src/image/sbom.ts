// What the image consists of, as a bill of materials and as the licenses it carries.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { carriedPackages } from '../build/build.ts';
import type { NpmPackage } from '../fetched-programs.ts';
import type { Base, Platform } from './base.ts';
import type { Labels } from './oci-image.ts';

export interface ImageContents {
  platform: Platform;
  base: Base;
  debianRelease: string;
  /** With their hashes in the lockfile. */
  packages: readonly (BundledPackage & NpmPackage)[];
}

/**
 * What the image consists of, as CycloneDX 1.6: not what the lockfile holds, most of which is for tests, but what is in the
 * programs and beside them, with the lockfile's hashes.
 */
export function sbom({ platform, base, debianRelease, packages }: ImageContents, labels: Labels): string {
  const { node, debian } = base;
  const components = [
    ...packages.map((one) => ({
      ...npmComponent('library', one),
      ...(one.license ? { licenses: [licenseOf(one.license)] } : {}),
    })),
    { ...npmComponent('platform', node), cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*` },
    ...debian.map(({ name, version, source, files }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${platform.architecture}&distro=debian-${debianRelease}`,
      properties: [
        { name: 'debian:source', value: source },
        ...Object.entries(files).map(([path, hash]) => ({ name: `sha256:/${path}`, value: hash })),
      ],
    })),
  ];
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: labels.created,
      component: {
        type: 'container',
        name: 'millrace',
        version: labels.version,
        licenses: [licenseOf('Apache-2.0')],
        properties: [{ name: 'platform', value: `linux/${platform.architecture}` }],
      },
    },
    components: components.map((component) => ({ 'bom-ref': component.purl, ...component })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function npmComponent(type: 'library' | 'platform', { name, version, integrity }: NpmPackage) {
  const [algorithm, hash = ''] = integrity.split('-', 2);
  return {
    type,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: String(algorithm).replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
  };
}

/** One name of SPDX, or an expression of several. */
const licenseOf = (license: string) =>
  / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };

/** A package of others that is part of the programs, or lies beside them. */
interface BundledPackage {
  name: string;
  version: string;
  /** Of SPDX; empty when the package does not say. */
  license: string;
  /** The texts that have to go with it. */
  licenseTexts: string[];
}

/** @param bundled the files of which something is in the programs, by their paths from the root */
export async function bundledPackages(root: string, bundled: readonly string[]): Promise<BundledPackage[]> {
  const folders = new Set([...bundled.flatMap((path) => packageFolder(root, path)), ...carriedPackages(root).values()]);
  const packages = await Promise.all([...folders].map(readPackage));
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Some packages have further `package.json` files in their folders, that say no more than how to load them. */
function packageFolder(root: string, path: string): string[] {
  const [, within, name] = path.match(/^(.*node_modules\/)((?:@[^/]+\/)?[^/]+)\//) ?? [];
  return within && name ? [join(root, within, name)] : [];
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string | { type: string };
  };
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  return {
    name,
    version,
    license: typeof license === 'object' ? license.type : (license ?? ''),
    licenseTexts: await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8'))),
  };
}

/** The texts that licences demand to go with what is compiled into the programs. */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, license, licenseTexts }) =>
    [`## ${name} ${version} (${license || 'no license stated'})`, ...licenseTexts.map((text) => text.trim())].join(
      '\n\n',
    ),
  );
  return `${['Millrace contains the following packages.', ...parts].join('\n\n')}\n`;
}
