import { deflateRawSync } from 'node:zlib';
import { readZip } from './kubectl-and-helm.ts';

/** An archive as zip writes it, without checksums, which nobody here looks at. */
function zip(files: { path: string; content: string; isPacked: boolean }[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  for (const { path, content, isPacked } of files) {
    const name = Buffer.from(path);
    const data = isPacked ? deflateRawSync(content) : Buffer.from(content);
    const offset = local.reduce((sum, part) => sum + part.length, 0);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(isPacked ? 8 : 0, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    local.push(header, name, data);
    central.push(entry, name);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(
    local.reduce((sum, part) => sum + part.length, 0),
    16,
  );
  return Buffer.concat([...local, ...central, end]);
}

test('gives the files of an archive, packed or not, and no folders', () => {
  const files = readZip(
    zip([
      { path: 'helm/', content: '', isPacked: false },
      { path: 'helm/helm', content: 'a program '.repeat(100), isPacked: true },
      { path: 'note', content: 'as it is', isPacked: false },
    ]),
  );
  expect([...files].map(([path, content]) => [path, content.toString()])).toEqual([
    ['helm/helm', 'a program '.repeat(100)],
    ['note', 'as it is'],
  ]);
});

test('refuses what is no archive', () => {
  expect(() => readZip(Buffer.from('something else'))).toThrow('not a zip archive');
});
