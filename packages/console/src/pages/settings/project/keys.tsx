// Shows a project's public and secret API keys.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useHasLevel, useProject } from '../../../frame/project.ts';
import { Button, CopyButton } from '../../../parts/button.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { ConfirmationDialog, OneTimeSecret, SettingsBlock, SuccessMessage } from '../block.tsx';
import { useEnvironmentChange, useEnvironmentPath } from '../environment.ts';
import { text as shared } from '../words.ts';
import { text } from './words.ts';

export function ProjectKey() {
  const { api_token: key } = useProject();
  const path = useEnvironmentPath();
  const mayReset = useHasLevel(8);
  const [isConfirming, setConfirming] = useState(false);
  const reset = useEnvironmentChange();
  return (
    <SettingsBlock title={text.key} about={text.keyText} request={{ method: 'PATCH', path: `${path}/reset_token` }}>
      <div className="form-buttons">
        <code className="settings-key">{key}</code>
        <CopyButton text={key} />
        <Button look="danger" isDisabled={!mayReset} onPress={() => setConfirming(true)}>
          {text.reset}
        </Button>
      </div>
      {!mayReset && <p className="hint">{shared.needsAdministrator}</p>}
      {reset.isSuccess && <SuccessMessage>{text.wasReset}</SuccessMessage>}
      {isConfirming && (
        <ConfirmationDialog
          title={text.resetTitle}
          verb={text.reset}
          onClose={() => setConfirming(false)}
          act={() => reset.mutateAsync({ method: 'PATCH', path: `${path}/reset_token` })}
        >
          {text.resetText}
        </ConfirmationDialog>
      )}
    </SettingsBlock>
  );
}

interface SecretKeys {
  secret_api_token: string | null;
  secret_api_token_backup: string | null;
}

/** Shows the masked secret API key. A new key is shown in full only once, when the user creates it. */
export function SecretKey() {
  const { id } = useProject();
  const path = useEnvironmentPath();
  const mayChange = useHasLevel(8);
  const [pendingAction, setPendingAction] = useState<'rotate' | 'remove' | null>(null);
  const [newKey, setNewKey] = useState<string | null>(null);
  const queryKey = ['settings', id, 'secret keys'];
  const request = { path: `${path}/secret_tokens` };
  const keys = useQuery({ queryKey, queryFn: ({ signal }) => call<SecretKeys>(request, signal) });
  const change = useEnvironmentChange<SecretKeys>();
  const act = async (action: string) => {
    const updated = await change.mutateAsync({ method: 'PATCH', path: `${path}/${action}` });
    await queryClient.invalidateQueries({ queryKey });
    return updated;
  };
  const buttons = (
    <Button isDisabled={!mayChange || !keys.data} onPress={() => setPendingAction('rotate')}>
      {keys.data?.secret_api_token ? text.rotate : text.makeSecret}
    </Button>
  );
  return (
    <>
      <SettingsBlock title={text.secretKey} about={text.secretKeyText} buttons={buttons} request={request}>
        {!mayChange && <p className="hint">{shared.needsAdministrator}</p>}
        <QueryContent query={keys} what={text.secretKey}>
          {({ secret_api_token: present, secret_api_token_backup: former }) =>
            present === null ? (
              <p className="quiet">{text.noSecretKey}</p>
            ) : (
              <dl className="facts settings-facts">
                <div>
                  <dt>{text.present}</dt>
                  <dd>
                    <code>{present}</code>
                  </dd>
                </div>
                {former !== null && (
                  <div>
                    <dt>{text.former}</dt>
                    <dd className="form-buttons">
                      <code>{former}</code>
                      <Button look="danger" isDisabled={!mayChange} onPress={() => setPendingAction('remove')}>
                        {text.removeFormer}
                      </Button>
                    </dd>
                  </div>
                )}
              </dl>
            )
          }
        </QueryContent>
      </SettingsBlock>
      {newKey !== null && <OneTimeSecret title={text.made} value={newKey} onDone={() => setNewKey(null)} />}
      {pendingAction === 'rotate' && (
        <ConfirmationDialog
          title={keys.data?.secret_api_token ? text.rotateTitle : text.makeSecret}
          verb={keys.data?.secret_api_token ? text.rotate : text.makeSecret}
          onClose={() => setPendingAction(null)}
          act={async () => setNewKey((await act('rotate_secret_token')).secret_api_token)}
        >
          {keys.data?.secret_api_token ? text.rotateText : text.secretKeyText}
        </ConfirmationDialog>
      )}
      {pendingAction === 'remove' && (
        <ConfirmationDialog
          title={text.removeFormerTitle}
          verb={text.removeFormer}
          onClose={() => setPendingAction(null)}
          act={() => act('delete_secret_token_backup')}
        >
          {text.removeFormerText}
        </ConfirmationDialog>
      )}
    </>
  );
}
