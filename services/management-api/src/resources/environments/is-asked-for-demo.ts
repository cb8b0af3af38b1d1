import type { ApiRequest } from '@millrace/http';

/** Whether a request asks for demo data. Looked at before the body is validated: it decides who may send it. */
export async function isAskedForDemo(request: ApiRequest): Promise<boolean> {
  const body = await request.body().catch(() => null);
  const asked = (body as { is_demo?: unknown } | null)?.is_demo;
  return asked === true || /^(true|1|t|y|yes|on)$/i.test(String(asked));
}
