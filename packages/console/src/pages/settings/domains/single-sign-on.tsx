import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call, consolePath, readSignInProviders, toApiPath } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button, CopyButton } from '../../../parts/button.tsx';
import { Field, FormProblem, readForm } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { formatClock, formatDay } from '../../../parts/time.ts';
import { SettingsBlock, SuccessMessage } from '../block.tsx';
import { administrator, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import type { Domain as DomainFields } from './proof-steps.tsx';
import { text } from './words.ts';

const { sso } = text;

interface SignOn {
  sso_enforcement_state: 'off' | 'no effect' | 'waiting' | 'active';
  sso_enforcement_reason: string | null;
  sso_owner_exception: boolean;
  saml_allow_unsolicited: boolean;
  saml_problem: string | null;
  saml_certificate_expires_at: string | null;
  has_oidc: boolean;
  oidc_issuer: string | null;
  oidc_client_id: string | null;
  proof_missing_since: string | null;
}
type Domain = DomainFields & SignOn;

/** Fields that are changed through the domain's path. All other fields are changed through its `sign_on` path. */
const own = new Set([
  'jit_provisioning_enabled',
  'sso_enforcement',
  'saml_entity_id',
  'saml_acs_url',
  'saml_x509_cert',
]);

interface SignInTry {
  id: string;
  created_at: string;
  provider: string;
  is_test: boolean;
  outcome: 'signed in' | 'passed' | 'refused';
  detail: string;
  email: string | null;
  attributes: Record<string, string[]> | null;
}

/**
 * Guides the administrator through the three setup steps, explains the consequences for users, and lists the latest
 * sign-in attempts with their errors.
 */
export function SingleSignOn({ domain, onClose }: { domain: DomainFields; onClose: () => void }) {
  const organization = useOrganization();
  const path = `${organization.path}/domains/${domain.id}/sign_on`;
  const query = useQuery({
    queryKey: ['organization', organization.id, 'domains', domain.id],
    queryFn: () => call<SignOn>({ path }),
  });
  return (
    <QueryContent query={query} what={sso.title(domain.domain)}>
      {(signOn) => <SetUp domain={{ ...domain, ...signOn }} onClose={onClose} />}
    </QueryContent>
  );
}

function SetUp({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const organization = useOrganization();
  const { timezone } = useProject();
  const mayChange = organization.level >= administrator;
  const [kind, setKind] = useState<'saml' | 'oidc'>(domain.has_oidc && !domain.has_saml ? 'oidc' : 'saml');
  const path = `${organization.path}/domains/${domain.id}`;
  const save = useMutation({
    mutationFn: async (body: Record<string, unknown>) => {
      const isOwn = Object.keys(body).every((name) => own.has(name));
      return callWithRecentSignIn<object>({ method: 'PATCH', path: isOwn ? path : `${path}/sign_on`, body });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'domains'] }),
  });
  if (!mayChange) {
    return (
      <SettingsBlock title={sso.title(domain.domain)} buttons={<Button onPress={onClose}>{text.steps.close}</Button>}>
        <State domain={domain} />
        <p className="hint">{sso.onlyAdministrators}</p>
      </SettingsBlock>
    );
  }
  const isReady = kind === 'saml' ? domain.has_saml && domain.saml_problem === null : domain.has_oidc;
  return (
    <SettingsBlock
      title={sso.title(domain.domain)}
      about={sso.about}
      buttons={<Button onPress={onClose}>{text.steps.close}</Button>}
    >
      <State domain={domain} />
      {domain.proof_missing_since !== null && (
        <p className="warn">{sso.proofAway(formatDay(domain.proof_missing_since, timezone))}</p>
      )}
      <div className="form-buttons">
        {(['saml', 'oidc'] as const).map((one) => (
          <Button
            key={one}
            look={kind === one ? 'main' : undefined}
            aria-pressed={kind === one}
            onPress={() => setKind(one)}
          >
            {sso[one]}
          </Button>
        ))}
      </div>
      <ol className="domain-steps">
        <li>
          {sso.first}
          <OurValues kind={kind} domain={domain} />
        </li>
        <li>
          {sso.second}
          <ProviderForm key={kind} {...{ kind, domain, save }} />
        </li>
        <li>
          {sso.third}
          <div className="form-buttons">
            <Button isDisabled={!isReady} onPress={() => testSignIn(kind, domain)}>
              {sso.test}
            </Button>
          </div>
        </li>
      </ol>
      <Rules domain={domain} onChange={(body) => save.mutate(body)} />
      <FormProblem problem={save.error} fields={['oidc_issuer']} />
      {save.isSuccess && <SuccessMessage>{sso.saved}</SuccessMessage>}
      <Tries path={path} />
    </SettingsBlock>
  );
}

/** Opens the identity provider's sign-in page, which redirects back to this page. */
function testSignIn(kind: string, domain: Domain): void {
  const next = `/console/${location.pathname.slice(consolePath.length)}?open=${domain.id}`;
  location.assign(`${toApiPath(`/login/${kind}/`)}?${new URLSearchParams({ test: domain.id, next })}`);
}

const looks = { off: '', 'no effect': 'pill-warn', waiting: 'pill-warn', active: 'pill-good' } as const;

function State({ domain }: { domain: Domain }) {
  const { sso_enforcement_state: state, sso_enforcement_reason: reason } = domain;
  return (
    <p>
      <span className={`pill ${looks[state]}`}>{sso.state[state]}</span> {state === 'waiting' && sso.waiting}
      {reason !== null && sso.reasons[reason]}
    </p>
  );
}

function OurValues({ kind, domain }: { kind: 'saml' | 'oidc'; domain: Domain }) {
  const at = (path: string) => `${location.origin}${toApiPath(path)}`;
  const values: ['entity' | 'acs' | 'metadata' | 'relay' | 'redirect', string][] =
    kind === 'saml'
      ? [
          ['entity', at('')],
          ['acs', at('/complete/saml/')],
          ['metadata', at('/api/saml/metadata/')],
          ['relay', domain.id],
        ]
      : [['redirect', at(`/complete/oidc/${domain.id}/`)]];
  return (
    <dl className="facts domain-record">
      {values.map(([name, value]) => (
        <div key={name}>
          <dt>{sso[name]}</dt>
          <dd className="mono">
            <span>{value}</span>
            <CopyButton text={value}>{sso.copies[name]}</CopyButton>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ProviderForm({
  kind,
  domain,
  save,
}: {
  kind: 'saml' | 'oidc';
  domain: Domain;
  save: { mutate: (body: Record<string, unknown>) => void; isPending: boolean; error: unknown };
}) {
  const { timezone } = useProject();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = readForm(event) as Record<string, string>;
    if (fields.oidc_client_secret === '') delete fields.oidc_client_secret;
    save.mutate(fields);
  };
  const ends = domain.saml_certificate_expires_at;
  return (
    <form className="form settings-form" onSubmit={submit}>
      {kind === 'saml' ? (
        <>
          <Field
            name="saml_entity_id"
            label={sso.entityId}
            defaultValue={domain.saml_entity_id ?? ''}
            problem={save.error}
          />
          <Field
            name="saml_acs_url"
            label={sso.signOnUrl}
            type="url"
            defaultValue={domain.saml_acs_url ?? ''}
            problem={save.error}
          />
          <Certificate domain={domain} />
          {domain.saml_problem !== null && <p className="bad">{domain.saml_problem}</p>}
          {ends !== null && <p className="hint">{sso.certificateEnds(formatDay(ends, timezone))}</p>}
        </>
      ) : (
        <>
          <Field
            name="oidc_issuer"
            label={sso.issuer}
            type="url"
            defaultValue={domain.oidc_issuer ?? ''}
            problem={save.error}
          />
          <Field
            name="oidc_client_id"
            label={sso.clientId}
            defaultValue={domain.oidc_client_id ?? ''}
            problem={save.error}
          />
          <Field
            name="oidc_client_secret"
            label={sso.clientSecret}
            type="password"
            autoComplete="off"
            required={!domain.has_oidc}
            hint={sso.secretHint(domain.has_oidc)}
            problem={save.error}
          />
        </>
      )}
      <div className="form-buttons">
        <Button type="submit" isDisabled={save.isPending}>
          {sso.save}
        </Button>
      </div>
    </form>
  );
}

function Certificate({ domain }: { domain: Domain }) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {sso.certificate}
      </label>
      <textarea
        id={id}
        className="input mono"
        name="saml_x509_cert"
        rows={5}
        required
        spellCheck={false}
        defaultValue={domain.saml_x509_cert ?? ''}
        aria-describedby={`${id}-more`}
      />
      <span id={`${id}-more`} className="hint">
        {sso.certificateHint}
      </span>
    </div>
  );
}

function Rules({ domain, onChange }: { domain: Domain; onChange: (body: Record<string, unknown>) => void }) {
  const id = useId();
  const kinds = [
    ...(domain.has_saml ? ['saml'] : []),
    ...(domain.has_oidc ? ['oidc'] : []),
    ...readSignInProviders().map(({ kind }) => kind),
  ];
  const offered = [...new Set([...kinds, domain.sso_enforcement].filter((kind) => kind !== ''))];
  const choice = (name: keyof Domain, label: ReactNode) => (
    <label className="settings-choice">
      <input
        type="checkbox"
        checked={domain[name] === true}
        onChange={(event) => onChange({ [name]: event.target.checked })}
      />
      {label}
    </label>
  );
  return (
    <section className="form settings-form" aria-label={sso.rules}>
      <h3>{sso.rules}</h3>
      {choice('jit_provisioning_enabled', sso.jit)}
      <div className="field">
        <label className="field-label" htmlFor={id}>
          {sso.enforce}
        </label>
        <select
          id={id}
          className="input"
          value={domain.sso_enforcement}
          onChange={(event) => onChange({ sso_enforcement: event.target.value })}
        >
          <option value="">{sso.any}</option>
          {offered.map((kind) => (
            <option key={kind} value={kind}>
              {sso.kinds[kind] ?? kind}
            </option>
          ))}
        </select>
        <span className="hint">{sso.keys}</span>
      </div>
      {choice('sso_owner_exception', sso.owners)}
      {domain.has_saml && choice('saml_allow_unsolicited', sso.unsolicited)}
    </section>
  );
}

function Tries({ path }: { path: string }) {
  const { timezone } = useProject();
  const query = useQuery({
    queryKey: [path, 'tries'],
    queryFn: () => call<{ results: SignInTry[] }>({ path: `${path}/sign_in_tries` }),
  });
  const { columns, outcomes } = sso;
  return (
    <section className="domain-tries" aria-label={sso.tries}>
      <h3>{sso.tries}</h3>
      <QueryContent query={query} what={sso.tries}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">{sso.noTries}</p>
          ) : (
            <table className="table settings-table">
              <thead>
                <tr>
                  <th>{columns.when}</th>
                  <th>{columns.how}</th>
                  <th>{columns.who}</th>
                  <th>{columns.what}</th>
                </tr>
              </thead>
              <tbody>
                {results.map(
                  ({ id, created_at: at, provider, is_test: isTest, outcome, detail, email, attributes }) => (
                    <tr key={id}>
                      <td data-label={columns.when}>
                        {formatDay(at, timezone)} {formatClock(at, timezone)}
                      </td>
                      <td data-label={columns.how}>{sso.kinds[provider] ?? provider}</td>
                      <td data-label={columns.who}>{email ?? ''}</td>
                      <td data-label={columns.what}>
                        <span className={outcome === 'refused' ? 'bad' : 'good'}>
                          {isTest ? sso.testOf(outcomes[outcome]) : outcomes[outcome]}
                        </span>{' '}
                        {detail}
                        {attributes !== null && <Attributes attributes={attributes} />}
                      </td>
                    </tr>
                  ),
                )}
              </tbody>
            </table>
          )
        }
      </QueryContent>
    </section>
  );
}

function Attributes({ attributes }: { attributes: Record<string, string[]> }) {
  return (
    <details>
      <summary>{sso.attributes}</summary>
      <dl className="facts domain-record">
        {Object.entries(attributes).map(([name, values]) => (
          <div key={name}>
            <dt className="mono">{name}</dt>
            <dd className="mono">{values.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
