import { mountSecret, testCertificates } from '@millrace/testing';
import { createReloadingTls } from './reloading-tls.ts';
import { readPemFile } from './setting-files.ts';

test('TLS options use the current files for each connection, and never combine a certificate with a different key', () => {
  const [ours, theirs] = [testCertificates.ofThisHost(), testCertificates.ofOtherHost()];
  const secret = mountSecret({ 'tls.crt': ours.cert, 'tls.key': ours.key });
  const warnings: string[] = [];
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error) => void warnings.push(String(warning));
  try {
    const problems: string[] = [];
    const tls = createReloadingTls({
      cert: readPemFile('CERT', secret.file('tls.crt'), problems),
      key: readPemFile('KEY', secret.file('tls.key'), problems),
    });
    const first = tls.secureContext;
    expect([first === undefined, problems]).toEqual([false, []]);
    expect(tls.secureContext).toBe(first);
    secret.exchange({ 'tls.crt': theirs.cert, 'tls.key': ours.key });
    expect([tls.secureContext, tls.secureContext]).toEqual([first, first]);
    expect(warnings).toEqual([expect.stringContaining('tls.key')]);
    secret.exchange({ 'tls.crt': theirs.cert, 'tls.key': theirs.key });
    expect(tls.secureContext).not.toBe(first);
  } finally {
    process.emitWarning = emitWarning;
    secret.remove();
  }
});

test('TLS options without files require a valid certificate', () => {
  expect(createReloadingTls({})).toEqual({ rejectUnauthorized: true });
});
