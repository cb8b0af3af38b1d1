import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readEnvironment } from '@millrace/runtime';
import { installOnce, installPythonTool } from '../../testing/install-tools.ts';

/** A client generator, the compiler for the generated client, and a program that uses the client. */
export interface ClientRecipe {
  name: string;
  /** Name of the program's directory. */
  folder: string;
  /**
   * Downloads the generator and libraries.
   * @throws Error with the output of the missing or failed tool
   */
  prepare(): Promise<Prepared>;
}

interface Prepared {
  /**
   * Generates a client for `openapi.json` in the directory, copies the program to the same directory, and compiles
   * both.
   */
  build(directory: string): Promise<void>;
  command(directory: string): string[];
}

export const recipeDirectory = (folder: string) => fileURLToPath(new URL(`./${folder}/`, import.meta.url));
const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

export const clientRecipes: ClientRecipe[] = [
  { name: 'openapi-generator for Python', folder: 'python', prepare: preparePython },
  { name: 'openapi-generator for Java', folder: 'java', prepare: prepareJava },
  { name: 'openapi-generator for TypeScript', folder: 'typescript', prepare: prepareTypeScript },
  { name: 'openapi-generator for Go', folder: 'go', prepare: prepareGo },
  { name: 'oapi-codegen for Go', folder: 'oapi-codegen', prepare: prepareOapiCodegen },
];

const execute = promisify(execFile);
const run = async ([program = '', ...words]: string[], cwd?: string) => {
  const { stdout } = await execute(program, words, {
    cwd,
    env: readEnvironment(),
    timeout: 400_000,
    maxBuffer: 64 << 20,
  });
  return stdout;
};

/** Prepares the generator. @returns a function that runs the generator in a directory with `openapi.json` */
async function openApiGenerator() {
  await run(['java', '-version']);
  const requirements = new URL('./openapi-generator.txt', import.meta.url);
  const python = await installPythonTool('openapi-generator', requirements);
  const findJar =
    'import openapi_generator_cli as it, os; print(os.path.join(it.__path__[0], "openapi-generator.jar"))';
  const jar = (await run([python, '-c', findJar])).trim();
  const onlyTheCode = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
  return (directory: string, language: string, output: string, properties = 'hideGenerationTimestamp=true') =>
    run(
      [
        ...['java', '-jar', jar, 'generate', '-i', 'openapi.json', '-g', language, '-o', output],
        ...['--additional-properties', properties, '--global-property', onlyTheCode],
      ],
      directory,
    );
}

async function preparePython(): Promise<Prepared> {
  const requirements = new URL('./python/requirements.txt', import.meta.url);
  const python = await installPythonTool('openapi-generator-python-libraries', requirements);
  const generate = await openApiGenerator();
  return {
    build: async (directory) => {
      await generate(directory, 'python', 'generated');
      await cp(join(directory, 'generated/openapi_client'), join(directory, 'openapi_client'), { recursive: true });
    },
    command: (directory) => [python, '-B', join(directory, 'use_client.py')],
  };
}

async function prepareJava(): Promise<Prepared> {
  await run(['javac', '-version']);
  const pom = join(recipeDirectory('java'), 'pom.xml');
  const libraries = await installOnce(
    'openapi-generator-java-libraries',
    await readFile(pom, 'utf8'),
    async (draft) => {
      await run(['mvn', '-B', '-q', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${draft}`]);
    },
  );
  const generate = await openApiGenerator();
  return {
    build: async (directory) => {
      await generate(directory, 'java', 'generated', 'useSingleRequestParameter=true');
      const classPath = ['-cp', join(libraries, '*'), '-sourcepath', 'generated/src/main/java'];
      const sources = (await run(['find', 'generated/src/main/java', '-name', '*.java'], directory)).trim();
      await writeFile(join(directory, 'sources'), `${sources}\nUseClient.java\n`);
      await run(['javac', '-nowarn', '-proc:none', '-d', 'classes', ...classPath, '@sources'], directory);
    },
    command: (directory) => {
      const classPath = `${join(directory, 'classes')}:${join(libraries, '*')}`;
      // Since Java 17, Gson requires this option for the cohort type, which contains a file when it is sent as a form.
      return ['java', '--add-opens=java.base/java.io=ALL-UNNAMED', '-cp', classPath, 'UseClient'];
    },
  };
}

async function prepareTypeScript(): Promise<Prepared> {
  const generate = await openApiGenerator();
  return {
    build: async (directory) => {
      await generate(directory, 'typescript-fetch', 'client', 'importFileExtension=.js');
      await writeFile(join(directory, 'package.json'), '{"type":"module"}');
      const checks = ['--strict', '--allowJs', '--checkJs', '--skipLibCheck', '--lib', 'es2022,dom'];
      const types = ['--typeRoots', join(repositoryRoot, 'node_modules/@types'), '--types', 'node'];
      const compiler = join(repositoryRoot, 'node_modules/.bin/tsc');
      const output = ['--target', 'es2022', '--module', 'nodenext', '--rootDir', '.', '--outDir', 'dist'];
      await run([compiler, ...checks, ...types, ...output, 'use-client.mjs'], directory);
      await writeFile(join(directory, 'dist/package.json'), '{"type":"module"}');
    },
    command: (directory) => [process.execPath, join(directory, 'dist/use-client.mjs')],
  };
}

// With `-trimpath`, the compiled packages do not contain the directory, so Go can reuse its cache in other directories.
const buildGo = (directory: string) => run(['go', 'build', '-trimpath', '-o', 'use-client', '.'], directory);

async function prepareGo(): Promise<Prepared> {
  await run(['go', 'version']);
  const generate = await openApiGenerator();
  return {
    build: async (directory) => {
      await generate(directory, 'go', 'client', 'packageName=client');
      await rm(join(directory, 'client/go.mod'));
      await buildGo(directory);
    },
    command: (directory) => [join(directory, 'use-client')],
  };
}

async function prepareOapiCodegen(): Promise<Prepared> {
  await run(['go', 'tool', 'oapi-codegen', '-version'], recipeDirectory('oapi-codegen'));
  return {
    build: async (directory) => {
      const output = ['-generate', 'types,client', '-package', 'client', '-o', 'client/client.gen.go'];
      await run(['mkdir', '-p', 'client'], directory);
      await run(['go', 'tool', 'oapi-codegen', ...output, 'openapi.json'], directory);
      await buildGo(directory);
    },
    command: (directory) => [join(directory, 'use-client')],
  };
}
