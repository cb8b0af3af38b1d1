import { useMutation, useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call, getApiUrl } from '../api/request.ts';
import { useProject } from '../frame/project.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../parts/dialog.tsx';
import { FormProblem } from '../parts/form.tsx';
import { QueryContent } from '../parts/states.tsx';
import { words } from '../words.ts';
import { text } from './words.ts';
import './sharing.css';

interface Sharing {
  enabled: boolean;
  access_token: string | null;
  settings: { noHeader?: boolean; theme?: string };
}

/**
 * A dialog for an insight's or dashboard's public link.
 * @param path the API path of the insight or dashboard, relative to its project
 */
export function ShareDialog({ path, name, onClose }: { path: string; name: string; onClose: () => void }) {
  const { id } = useProject();
  const request = { path: `/api/projects/${id}/${path}/sharing` };
  const queryKey = ['sharing', id, path];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => call<Sharing>(request, signal) });
  const change = useMutation({
    mutationFn: (next: ApiCall) => call<Sharing>(next),
    onSuccess: (sharing) => queryClient.setQueryData(queryKey, sharing),
  });
  // The switch shows its new value while the request is pending, and keeps the focus.
  const sent = change.isPending ? (change.variables.body as Partial<Sharing> | undefined) : undefined;
  const patch = (body: object): ApiCall => ({ ...request, method: 'PATCH', body });
  return (
    <Dialog title={text.title(name)} onClose={onClose}>
      <p className="quiet">{text.about}</p>
      <QueryContent query={query} what={text.what}>
        {({ enabled, access_token: token, settings }) => (
          <div className="form">
            <label className="sharing-check">
              <input
                type="checkbox"
                checked={sent?.enabled ?? enabled}
                onChange={({ target }) => change.mutate(patch({ enabled: target.checked }))}
              />
              {text.share}
            </label>
            {enabled && token !== null && (
              <>
                <Copied label={text.link} value={getApiUrl(`/shared/${token}`)} button={text.copyLink} />
                <Copied label={text.embed} value={frameOf(token)} button={text.copyEmbed} hint={text.embedHint} />
                <label className="sharing-check">
                  <input
                    type="checkbox"
                    checked={(sent?.settings ?? settings).noHeader !== true}
                    onChange={({ target }) =>
                      change.mutate(patch({ settings: { ...settings, noHeader: !target.checked } }))
                    }
                  />
                  {text.header}
                </label>
                <div>
                  <Button
                    isDisabled={change.isPending}
                    onPress={() => change.mutate({ path: `${request.path}/refresh`, method: 'POST' })}
                  >
                    {text.refresh}
                  </Button>
                  <p className="hint">{text.refreshHint}</p>
                </div>
              </>
            )}
            <FormProblem problem={change.error} fields={[]} />
          </div>
        )}
      </QueryContent>
      <div className="form-buttons">
        <AsApiCallButton request={query.data?.enabled ? request : patch({ enabled: true })} />
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

const frameOf = (token: string) =>
  `<iframe width="100%" height="600" src="${getApiUrl(`/embedded/${token}`)}" title="Millrace" loading="lazy"></iframe>`;

function Copied({ label, value, button, hint }: { label: string; value: string; button: string; hint?: string }) {
  return (
    <div className="field">
      <label>
        <span className="field-label">{label}</span>
        <input className="input mono" readOnly value={value} onFocus={({ target }) => target.select()} />
      </label>
      {hint && <span className="hint">{hint}</span>}
      <div>
        <CopyButton text={value}>{button}</CopyButton>
      </div>
    </div>
  );
}
