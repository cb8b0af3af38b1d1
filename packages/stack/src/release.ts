// `npm run release`: builds and publishes the image, the chart and the npm packages of a version.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stop } from 'esbuild';
import { parse } from 'yaml';
import { buildLibrary, libraries } from './build/libraries/libraries.ts';
import { type Command, type Progress, parseOptions, SetupProblem } from './command.ts';
import { parsePlatforms } from './image/base.ts';
import { buildImageTrees, packImages, readImageLabels, sbomPath, usualRepository } from './image/image.ts';
import { addFolder, type Tree } from './image/layers.ts';
import { writeLayer } from './image/oci-image.ts';
import { runProgram } from './run-program.ts';

const chart = 'deploy/helm/millrace';
const changelog = 'CHANGELOG.md';

/**
 * `npm run release [-- options]`: builds and publishes a release: the image, the chart, the two npm packages, the bills
 * of materials, the release notes, and SHA256SUMS with their checksums.
 *
 * --dry-run                            build everything, but publish nothing
 * --platform linux/amd64,linux/arm64   default: both
 * --output <folder>                    default: dist/release, emptied first. Another folder must be empty
 *
 * Publishing requires a commit with the tag of the version, and the settings in `publishing`. If any are missing, the
 * command lists them and exits with code 1 before building anything.
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  const text = { type: 'string' } as const;
  const known = { 'dry-run': { type: 'boolean' }, platform: text, output: text } as const;
  const options = parseOptions('npm run release', programArguments, known);
  const version = await commonVersion(root);
  const notes = await notesOf(root, version);
  if (!options['dry-run']) await refuseUnready(root, version, notes);
  const output = resolve(root, options.output ?? 'dist/release');
  if (options.output === undefined) await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  if ((await readdir(output)).length > 0) throw new SetupProblem(`The output directory ${output} is not empty.`);
  const made = { version, output, progress };
  await packImage(root, options.platform ?? 'linux/amd64,linux/arm64', made);
  await progress.step('Packing the chart', () => packChart(root, made));
  await progress.step('Packing the npm packages', () => packLibraries(root, made));
  await writeFile(join(output, notesFile), notes);
  await writeFile(join(output, 'SHA256SUMS'), await checksums(output));
  progress.print(`  Wrote the release files of Millrace ${version} to ${output}:`);
  for (const name of (await readdir(output)).sort()) progress.print(`  ${name}`);
  if (!options['dry-run']) await publish(made, process.env);
  return 0;
};

/** A release that is being built. `filesOf` returns the names of its files. */
interface Made {
  version: string;
  output: string;
  progress: Progress;
}

const notesFile = 'release-notes.md';
const filesOf = ({ version, output }: Made) => ({
  image: join(output, `millrace-image-${version}.tar`),
  chart: join(output, `millrace-${version}.tgz`),
  packages: ['browser', 'react'].map((name) => join(output, `millrace-${name}-${version}.tgz`)),
});

/** Returns the version that all published packages share. @throws SetupProblem if the versions differ */
async function commonVersion(root: string): Promise<string> {
  const manifests = ['package.json', ...libraries.map(({ directory }) => `${directory}/package.json`)];
  const versions: [file: string, version: string][] = [];
  for (const file of manifests) versions.push([file, JSON.parse(await readFile(join(root, file), 'utf8')).version]);
  const { version, appVersion } = parse(await readFile(join(root, chart, 'Chart.yaml'), 'utf8'));
  versions.push([`${chart}/Chart.yaml, version`, version], [`${chart}/Chart.yaml, appVersion`, appVersion]);
  if (new Set(versions.map(([, one]) => one)).size > 1) {
    throw new SetupProblem(
      `The versions do not match:\n${versions.map(([file, one]) => `  ${one} ${file}`).join('\n')}`,
    );
  }
  return String(version);
}

/**
 * Returns the version's section of the changelog. Replaces links to files of the repository with their text, because
 * they would not work elsewhere.
 */
async function notesOf(root: string, version: string): Promise<string> {
  const sections = (await readFile(join(root, changelog), 'utf8')).split(/^(?=## )/m);
  const section = sections.find((one) => /^## ([\w.+-]+)/.exec(one)?.[1] === version);
  if (!section) throw new SetupProblem(`${changelog} has no section "## ${version}".`);
  return section.replace('## ', '# Millrace ').replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
}

/** Writes one archive for all platforms, and one bill of materials per platform. */
async function packImage(root: string, platforms: string, made: Made): Promise<void> {
  const { version, output, progress } = made;
  const labels = await readImageLabels(root);
  const trees = await buildImageTrees(root, { platforms: parsePlatforms(platforms), labels, progress });
  const content = { trees, labels, repository: usualRepository };
  await progress.step('Packing the image', () => packImages(filesOf(made).image, content));
  for (const { platform, layers } of trees) {
    const sbom = layers.at(-1)?.tree.get(sbomPath);
    if (sbom?.kind !== 'file') throw new Error('the image has no SBOM (software bill of materials)');
    await writeFile(join(output, `millrace-image-${version}-${platform.architecture}.cdx.json`), sbom.content);
  }
}

/** Packs the chart without Helm in the format of `helm package`: a compressed tar file of one directory. */
async function packChart(root: string, made: Made): Promise<void> {
  const tree: Tree = new Map();
  const takes = (path: string) => !/(^|\/)(\.DS_Store|\.helmignore)$|\.(tgz|orig|swp)$/.test(path);
  await addFolder(tree, 'millrace', { folder: join(root, chart), takes });
  await writeFile(filesOf(made).chart, (await writeLayer(tree)).content);
}

async function packLibraries(root: string, { output }: Made): Promise<void> {
  const built = await mkdtemp(join(tmpdir(), 'millrace-release-'));
  try {
    const folders = libraries.map(({ directory }) => join(built, directory));
    for (const [at, library] of libraries.entries()) await buildLibrary(root, library, String(folders[at]));
    // Stop esbuild's child process, which would keep this process alive.
    await stop();
    const words = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', output, ...folders];
    const { status, output: npmOutput } = await runProgram('npm', words, { cwd: built });
    if (status !== 0) throw new SetupProblem(`npm could not pack the libraries:\n${npmOutput.trim()}`);
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}

/** Returns the content of SHA256SUMS, for `sha256sum -c SHA256SUMS`. */
async function checksums(output: string): Promise<string> {
  const lines: string[] = [];
  for (const name of (await readdir(output)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(output, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  return lines.join('');
}

/** Environment variables that publishing requires. .github/workflows/release.yml sets them. */
export const publishing = {
  NODE_AUTH_TOKEN: 'a token for the npm registry in your .npmrc',
  IMAGE_REPOSITORY: 'the image repository, such as registry.example.com/millrace/millrace',
  CHART_REPOSITORY: 'the chart repository, such as registry.example.com/millrace/charts',
  REGISTRY_USER: 'a user who can write to both repositories',
  REGISTRY_PASSWORD: 'the password or token of REGISTRY_USER',
};

async function refuseUnready(root: string, version: string, notes: string): Promise<void> {
  const missing = Object.entries(publishing).flatMap(([name, what]) => (process.env[name] ? [] : [`${name}: ${what}`]));
  const { output: tags } = await runProgram('git', ['tag', '--points-at', 'HEAD'], { cwd: root });
  if (!tags.split('\n').includes(`v${version}`)) missing.push(`the tag v${version} on this commit`);
  if (/^.*not released/.test(notes)) missing.push(`a date instead of "not released yet" in ${changelog}`);
  if (missing.length === 0) return;
  const lines = ['Nothing was built or published. The following is missing:', ...missing.map((one) => `- ${one}`)];
  throw new SetupProblem(
    [...lines, 'To build everything without publishing, run `npm run release -- --dry-run`.'].join('\n  '),
  );
}

/**
 * Publishes with the programs in the PATH of `env`. The npm packages are published after the image and the chart,
 * because a version of an npm package cannot be published again. If `GH_TOKEN` is set, finally creates the GitHub
 * release with all files.
 */
export async function publish(made: Made, env: NodeJS.ProcessEnv): Promise<void> {
  const { version, output, progress } = made;
  const { image, chart: packed, packages } = filesOf(made);
  const { IMAGE_REPOSITORY = '', CHART_REPOSITORY = '', REGISTRY_USER = '', REGISTRY_PASSWORD, GH_TOKEN } = env;
  const run = async (words: string[], input?: string) => runOrFail(words, { env, input });
  const login = (program: string[], [host = '']: string[]) =>
    run([...program, 'login', '-u', REGISTRY_USER, '--password-stdin', host], REGISTRY_PASSWORD);

  await progress.step(`Publishing ${IMAGE_REPOSITORY}:${version}`, async () => {
    await login(['skopeo'], IMAGE_REPOSITORY.split('/'));
    await run(['skopeo', 'copy', '--all', `oci-archive:${image}`, `docker://${IMAGE_REPOSITORY}:${version}`]);
  });
  await progress.step(`Publishing the chart to ${CHART_REPOSITORY}`, async () => {
    await login(['helm', 'registry'], CHART_REPOSITORY.split('/'));
    await run(['helm', 'push', packed, `oci://${CHART_REPOSITORY}`]);
  });
  for (const file of packages) await run(['npm', 'publish', '--access', 'public', file]);
  if (!GH_TOKEN) return;
  const files = (await readdir(output)).sort().map((name) => join(output, name));
  await run(['gh', 'release', 'create', `v${version}`, '--notes-file', join(output, notesFile), ...files]);
}

/** Runs a program. @throws SetupProblem if the program fails. The program itself must print the reason. */
async function runOrFail(
  [program = '', ...words]: string[],
  { env, input }: { env: NodeJS.ProcessEnv; input: string | undefined },
): Promise<void> {
  const child = spawn(program, words, { env, stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.on('error', () => {}).end(input);
  const status = await new Promise((done) => child.once('error', done).once('close', done));
  if (status === 0) return;
  throw new SetupProblem(
    `${program} ${words[0]} failed (${status}). Anything published before this step stays published.`,
  );
}
