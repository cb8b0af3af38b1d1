import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button, CopyButton } from '../../../parts/button.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatClock, formatDay } from '../../../parts/time.ts';
import { ConfirmationDialog, OneTimeSecret, SettingsBlock } from '../block.tsx';
import { useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import type { Domain } from './proof-steps.tsx';
import { text } from './words.ts';

const { scim } = text;

interface Scim {
  scim_enabled: boolean;
  scim_base_url: string;
  last_used_at: string | null;
  scim_bearer_token?: string;
}
interface ScimRequest {
  id: string;
  method: string;
  path: string;
  status: number;
  detail: string;
  created_at: string;
}

/** SCIM settings: the SCIM token, and the identity provider's latest requests. Only administrators have access. */
export function ScimSettings({ domain }: { domain: Domain }) {
  const organization = useOrganization();
  const path = `${organization.path}/domains/${domain.id}/scim`;
  const queryKey = ['organization', organization.id, 'domains', domain.id, 'scim'];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => call<Scim>({ path }, signal) });
  const [token, setToken] = useState<string | null>(null);
  const [confirming, setConfirming] = useState<'regenerate' | 'disable' | null>(null);
  const change = useMutation({
    mutationFn: (end: '' | '/regenerate' | '/disable') =>
      callWithRecentSignIn<Scim>({ method: 'POST', path: path + end }),
    onSuccess: async ({ scim_bearer_token: made }) => {
      setToken(made ?? null);
      await queryClient.invalidateQueries({ queryKey });
    },
  });
  return (
    <>
      {token !== null && <OneTimeSecret title={scim.token} value={token} onDone={() => setToken(null)} />}
      <SettingsBlock title={scim.title(domain.domain)} about={scim.about} request={{ path }}>
        <QueryContent query={query} what={scim.title(domain.domain)}>
          {(state) =>
            state.scim_enabled ? (
              <>
                <dl className="facts domain-record">
                  <div>
                    <dt>{scim.address}</dt>
                    <dd className="mono">
                      <span>{state.scim_base_url}</span> <CopyButton text={state.scim_base_url} />
                    </dd>
                  </div>
                  <div>
                    <dt>{scim.used}</dt>
                    <dd>{state.last_used_at === null ? scim.never : formatAgo(state.last_used_at)}</dd>
                  </div>
                </dl>
                <div className="form-buttons">
                  <Button onPress={() => setConfirming('regenerate')}>{scim.regenerate}</Button>
                  <Button onPress={() => setConfirming('disable')}>{scim.disable}</Button>
                </div>
                <Requests path={path} queryKey={queryKey} />
              </>
            ) : (
              <div className="form-buttons">
                <Button isDisabled={change.isPending} onPress={() => change.mutate('')}>
                  {scim.make}
                </Button>
              </div>
            )
          }
        </QueryContent>
        <FormProblem problem={change.error} fields={[]} />
        {confirming !== null && (
          <ConfirmationDialog
            title={scim.sure[confirming].title}
            verb={scim[confirming]}
            onClose={() => setConfirming(null)}
            act={() => change.mutateAsync(`/${confirming}`)}
          >
            {scim.sure[confirming].text}
          </ConfirmationDialog>
        )}
      </SettingsBlock>
    </>
  );
}

function Requests({ path, queryKey }: { path: string; queryKey: readonly unknown[] }) {
  const { timezone } = useProject();
  const query = useOffsetPages<ScimRequest>([...queryKey, 'logs'], { path: `${path}/logs` });
  const { columns } = scim;
  return (
    <section className="domain-tries" aria-label={scim.requests}>
      <h3>{scim.requests}</h3>
      <QueryContent query={query} what={scim.requests}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className="quiet">{scim.none}</p>
          ) : (
            <table className="table settings-table">
              <thead>
                <tr>
                  <th>{columns.when}</th>
                  <th>{columns.what}</th>
                  <th>{columns.response}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, created_at: at, method, path: confirming, status, detail }) => (
                  <tr key={id}>
                    <td data-label={columns.when}>
                      {formatDay(at, timezone)} {formatClock(at, timezone)}
                    </td>
                    <td className="mono">
                      {method} {confirming}
                    </td>
                    <td>
                      <span className={status < 400 ? 'good' : 'bad'}>{status}</span> {detail}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </QueryContent>
      <LoadMoreButton query={query} />
    </section>
  );
}
