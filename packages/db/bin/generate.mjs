// Generates the Prisma client into packages/db/src/generated. Prisma's CLI requires the path of a native schema engine,
// but does not use the engine to generate the client. The path of any existing file is enough.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const prisma = createRequire(join(root, 'package.json')).resolve('prisma/build/index.js');
const { status } = spawnSync(
  process.execPath,
  [prisma, 'generate', '--schema', join(root, 'prisma/schema.prisma'), '--no-hints'],
  {
    cwd: root,
    stdio: ['ignore', process.argv.includes('--quiet') ? 'ignore' : 'inherit', 'inherit'],
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  },
);
process.exit(status ?? 1);
