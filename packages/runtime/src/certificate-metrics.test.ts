import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCertificates } from '@millrace/testing';
import { exportCertificateExpiry } from './certificate-metrics.ts';
import { createMetrics } from './metrics.ts';

test('exports the expiry time of each configured certificate, and updates it when the file changes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-certificates-'));
  try {
    const file = join(directory, 'ca.pem');
    const metrics = createMetrics({ withProcessMetrics: false });
    exportCertificateExpiry({ kafkaSslCaFile: file, kafkaSslKeyFile: 'key.pem', port: 1 }, metrics);
    const readMetric = () => metrics.registry.getSingleMetricAsString('millrace_certificate_expiry_timestamp_seconds');
    expect(await readMetric()).toMatch(/setting="kafkaSslCaFile"\} Nan/i);
    copyFileSync(testCertificates.authorityFile, file);
    const [, seconds] = /setting="kafkaSslCaFile"\} (\d+)/.exec(await readMetric()) ?? [];
    expect(Number(seconds)).toBeGreaterThan(Date.now() / 1000);
    expect(await readMetric()).not.toContain('KeyFile');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
