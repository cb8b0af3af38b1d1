// Packages are not installed yet when this file runs. It is plain JavaScript, imports only Node.js modules, and uses
// syntax that an old Node.js can parse, so that it can report that Node.js is too old.
const oldest = [20, 19];

/** Exits with an error in one line if this Node.js is too old. */
function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  console.error(
    `✗ Millrace needs Node.js ${oldest.join('.')} or later. This is ${process.versions.node} (${process.execPath}).`,
  );
  process.exit(1);
}

/** Exits with an error in one line if PostgreSQL has no package for this platform. */
function requirePlatform() {
  const { platform, arch } = process;
  const hasPrograms = ['linux', 'darwin'].includes(platform) && ['x64', 'arm64'].includes(arch);
  // Only a Node.js built for glibc reports its glibc version.
  const hasGlibc = platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime !== undefined;
  if (hasPrograms && hasGlibc) return;
  const own = `${platform} on ${arch}${hasGlibc ? '' : ' without glibc'}`;
  console.error(
    `✗ Millrace runs on Linux (with glibc) and macOS, on x64 or arm64 processors. This is ${own}. On Windows, use WSL.`,
  );
  process.exit(1);
}

/**
 * If `npm start` was called with an unknown option, exits with an error in one line before anything is installed or
 * built.
 */
function requireStartOptions(programArguments) {
  const unknown = programArguments.find((argument) => argument !== '--kafka' && argument !== '--fresh');
  if (unknown === undefined) return;
  console.error(
    `✗ Unknown option ${unknown}. The options are --kafka (run on Kafka and Redis) and --fresh (start with empty ` +
      'data), as in npm start -- --kafka.',
  );
  process.exit(1);
}

/**
 * Prepares the repository, then runs `main({ progress, root, programArguments })` of a TypeScript program in this
 * process. The return value becomes the exit code.
 *
 * @param {string} program the path relative to this file
 */
export async function runCommand(program) {
  requireNode();
  requirePlatform();
  await orExplain(async () => {
    const { progress, root } = await prepareRepository({ isQuiet: false });
    const { main } = await import(new URL(program, import.meta.url).href);
    const exitCode = await main({ progress, root, programArguments: process.argv.slice(2) });
    process.exitCode = exitCode ?? 0;
  });
}

/** Prepares the repository, then runs the `main` function of `npm start`, which is built to plain JavaScript first. */
export async function runBuiltStart() {
  const programArguments = process.argv.slice(2);
  requireNode();
  requirePlatform();
  requireStartOptions(programArguments);
  await orExplain(async () => {
    const { prepare } = await import('./prepare.mjs');
    const prepared = await prepare({ isQuiet: false });
    const { builtStart } = await import('./built-start.mjs');
    const { main } = await import(await builtStart(prepared));
    const exitCode = await main({ ...prepared, programArguments });
    process.exitCode = exitCode ?? 0;
  });
}

/** Prepares the repository, then runs a TypeScript program as if it had been started directly. */
export async function runProgram(url, path, programArguments) {
  requireNode();
  await orExplain(async () => {
    await prepareRepository({ isQuiet: true });
    process.argv = [process.argv[0], path, ...programArguments];
    await import(url);
  });
}

async function prepareRepository(options) {
  const { prepare } = await import('./prepare.mjs');
  const prepared = await prepare(options);
  const { register } = await import('tsx/esm/api');
  register();
  return prepared;
}

/** Prints a problem that the user can fix in one line. Prints any other error, which is a bug, with its stack trace. */
async function orExplain(work) {
  try {
    await work();
  } catch (error) {
    console.error(error && error.name === 'SetupProblem' ? `\n✗ ${error.message}` : error);
    process.exit(1);
  }
}
