// The settings section where administrators verify the organization's email domains and set up single sign-on.

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useOffsetPages } from '../../../api/offset-pages.ts';
import { queryClient } from '../../../api/queries.ts';
import { ApiProblem } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { Field, FormProblem } from '../../../parts/form.tsx';
import { LoadMoreButton } from '../../../parts/more.tsx';
import { EmptyState, ErrorState, QueryContent } from '../../../parts/states.tsx';
import { formatDay } from '../../../parts/time.ts';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { administrator, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { type Domain, ProofSteps } from './proof-steps.tsx';
import { ScimSettings } from './scim.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { text } from './words.ts';
import './domains.css';

const parts = { open: part.text() };

export function DomainsSection() {
  const { view, change, unknown } = useUrlState(parts);
  const organization = useOrganization();
  const mayChange = organization.level >= administrator;
  const request = { path: `${organization.path}/domains` };
  const query = useOffsetPages<Domain>(['organization', organization.id, 'domains'], request);
  const onOpen = (open: string) => change({ open });
  /**
   * ID of the domain whose verification steps are shown. The ID is kept after the verification, so that the DNS
   * response remains visible.
   */
  const [proving, setProving] = useState('');
  return (
    <>
      <AddressHint unknown={unknown} />
      <QueryContent query={query} what={text.title}>
        {({ rows }) => {
          const open = rows.find(({ id }) => id === view.open);
          if (view.open !== '' && !open)
            return <ErrorState what={text.title} error={new ApiProblem(404, {}, new Headers())} />;
          return (
            <>
              {open && !open.is_verified && <Proving id={open.id} onProving={setProving} />}
              {open && (open.id === proving || !open.is_verified) && (
                <ProofSteps key={open.id} domain={open} mayVerify={mayChange} onClose={() => onOpen('')} />
              )}
              {open?.is_verified && <SingleSignOn key={`${open.id}-sso`} domain={open} onClose={() => onOpen('')} />}
              {open?.is_verified && mayChange && <ScimSettings key={`${open.id}-scim`} domain={open} />}
              <SettingsBlock
                title={text.title}
                about={
                  <>
                    {text.about} {!mayChange && text.onlyAdministrators}
                  </>
                }
                buttons={<AsApiCallButton request={request} />}
              >
                {mayChange && <AddDomain isMain={open === undefined} onAdded={onOpen} />}
                {rows.length === 0 ? (
                  <EmptyState title={text.emptyTitle} icon="gone">
                    <p className="quiet">{text.empty}</p>
                  </EmptyState>
                ) : (
                  <DomainTable domains={rows} mayChange={mayChange} onOpen={onOpen} />
                )}
                <LoadMoreButton query={query} />
              </SettingsBlock>
            </>
          );
        }}
      </QueryContent>
    </>
  );
}

function Proving({ id, onProving }: { id: string; onProving: (id: string) => void }) {
  useEffect(() => onProving(id), [id, onProving]);
  return null;
}

/** A form for adding a domain. @param isMain whether the form's button is the page's main button */
function AddDomain({ isMain, onAdded }: { isMain: boolean; onAdded: (id: string) => void }) {
  const organization = useOrganization();
  const [round, setRound] = useState(0);
  const add = useMutation({
    mutationFn: (domain: string) =>
      callWithRecentSignIn<Domain>({ method: 'POST', path: `${organization.path}/domains`, body: { domain } }),
    onSuccess: async ({ id }) => {
      setRound((before) => before + 1);
      await queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'domains'] });
      onAdded(id);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    add.mutate(String(new FormData(event.currentTarget).get('domain')));
  };
  return (
    // The React key resets the form after the user has added a domain.
    <form key={round} className="form settings-form" onSubmit={submit}>
      <Field
        name="domain"
        label={text.name}
        hint={text.nameHint}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={128}
        problem={add.error}
      />
      <FormProblem problem={add.error} fields={['domain']} />
      <div className="form-buttons">
        <Button type="submit" look={isMain ? 'main' : undefined} isDisabled={add.isPending}>
          {text.add}
        </Button>
      </div>
    </form>
  );
}

function DomainTable({
  domains,
  mayChange,
  onOpen,
}: {
  domains: readonly Domain[];
  mayChange: boolean;
  onOpen: (id: string) => void;
}) {
  const organization = useOrganization();
  const { timezone } = useProject();
  const [leaving, setLeaving] = useState<Domain | null>(null);
  return (
    <>
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.domain}</th>
            <th>{text.columns.state}</th>
            <th>{text.columns.since}</th>
            {mayChange && (
              <th>
                <span className="only-heard">{text.columns.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {domains.map((domain) => (
            <tr key={domain.id}>
              <td className="mono">{domain.domain}</td>
              <td>
                <span className={`pill ${domain.is_verified ? 'pill-good' : 'pill-warn'}`}>
                  {domain.is_verified ? text.states.proved : text.states.unproved}
                </span>
              </td>
              <td data-label={text.columns.since}>
                {domain.verified_at === null ? text.never : formatDay(domain.verified_at, timezone)}
              </td>
              {mayChange && (
                <td className="settings-actions">
                  {domain.is_verified ? (
                    <Button aria-label={text.signOnWhat(domain.domain)} onPress={() => onOpen(domain.id)}>
                      {text.signOn}
                    </Button>
                  ) : (
                    <Button aria-label={text.proveWhat(domain.domain)} onPress={() => onOpen(domain.id)}>
                      {text.prove}
                    </Button>
                  )}
                  <Button look="danger" aria-label={text.removeWhat(domain.domain)} onPress={() => setLeaving(domain)}>
                    {text.remove}
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {leaving && (
        <ConfirmationDialog
          title={text.removeTitle(leaving.domain)}
          verb={text.remove}
          onClose={() => setLeaving(null)}
          act={async () => {
            await callWithRecentSignIn({ method: 'DELETE', path: `${organization.path}/domains/${leaving.id}` });
            onOpen('');
            await queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'domains'] });
          }}
        >
          {text.removeText}
        </ConfirmationDialog>
      )}
    </>
  );
}
