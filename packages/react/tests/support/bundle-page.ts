import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const reactVersions = ['18', '19'] as const;
export type ReactVersion = (typeof reactVersions)[number];

const aliases: Record<ReactVersion, Record<string, string>> = {
  '18': { react: 'react-18', 'react-dom': 'react-dom-18' },
  '19': {},
};

interface PageBundle {
  react: ReactVersion;
  platform?: 'browser' | 'node';
  isProduction?: boolean;
}

export async function bundlePage(
  name: string,
  { react, platform = 'browser', isProduction = false }: PageBundle,
): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    entryPoints: [`tests/page/${name}`],
    bundle: true,
    write: false,
    platform,
    format: platform === 'node' ? 'cjs' : 'iife',
    target: 'es2022',
    alias: aliases[react],
    define: { 'process.env.NODE_ENV': JSON.stringify(isProduction ? 'production' : 'development') },
    logLevel: 'warning',
  });
  return outputFiles.map(({ text }) => text).join('');
}
