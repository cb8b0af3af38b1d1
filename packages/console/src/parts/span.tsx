// A page's time range, either relative or absolute, and the control for changing it.

import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { formatTime, fromLocalTime, toLocalTime } from './time.ts';

/**
 * A time range in the API's format. A relative time (`-24h`) remains relative in the URL, so the range moves forward
 * with the current time. All other values are absolute times.
 */
export interface Span {
  after: string;
  /** End of the range. Empty if the range ends at the current time. */
  before: string;
}

export const zones = ['project', 'own', 'utc'] as const;
export type ZoneChoice = (typeof zones)[number];

/**
 * Returns the time zone for a choice: `own` is the browser's time zone. The other choices are UTC and the project time
 * zone.
 */
export function resolveZone(choice: ZoneChoice, ofProject: string): string {
  if (choice === 'utc') return 'UTC';
  return choice === 'own' ? Intl.DateTimeFormat().resolvedOptions().timeZone : ofProject;
}

const text = words.span;

const isPreset = (after: string): after is keyof typeof text.presets => Object.hasOwn(text.presets, after);
const agoPattern = /^-(\d{1,5})([hdwmyM])$/;

/** Returns whether the value is a relative or an absolute time that the API accepts. */
export const isValidTime = (value: string) => agoPattern.test(value) || !Number.isNaN(Date.parse(value));

export function parseTime(time: string, now = new Date()): Date {
  const [, digits, unit] = agoPattern.exec(time) ?? [];
  if (digits === undefined) return new Date(time);
  const count = Number(digits);
  const moment = new Date(now);
  if (unit === 'm') moment.setUTCMonth(moment.getUTCMonth() - count);
  else if (unit === 'y') moment.setUTCFullYear(moment.getUTCFullYear() - count);
  else moment.setTime(moment.getTime() - count * (lengths[unit ?? ''] ?? 0));
  return moment;
}

const lengths: Record<string, number> = { M: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns the start and end of a range in milliseconds since 1970. Relative times are based on the current time. */
export function toTimeRange({ after, before }: Span): { from: number; to: number } {
  const now = new Date();
  return { from: parseTime(after, now).getTime(), to: (before === '' ? now : parseTime(before, now)).getTime() };
}

export function spanLength(span: Span): number {
  const { from, to } = toTimeRange(span);
  return to - from;
}

/** Replaces relative times with absolute times, so that a copied URL always shows the same range. */
function frozen({ after, before }: Span): Span {
  const now = new Date();
  return {
    after: parseTime(after, now).toISOString(),
    before: (before === '' ? now : parseTime(before, now)).toISOString(),
  };
}

function nameOfSpan({ after, before }: Span, zone: string): string {
  if (before === '' && isPreset(after)) return text.presets[after];
  const show = (time: string) => (agoPattern.test(time) ? time : formatTime(time, zone).replace(/\.000$/, ''));
  return before === '' ? text.since(show(after)) : text.fromTo(show(after), show(before));
}

export function SpanMenu({
  span,
  zone,
  zoneOfProject,
  presets,
  onSpan,
  onZone,
}: {
  span: Span;
  zone: ZoneChoice;
  zoneOfProject: string;
  /** The available ranges, as keys of `words.span.presets`. */
  presets: readonly string[];
  onSpan: (span: Span) => void;
  onZone: (zone: ZoneChoice) => void;
}) {
  const [isConfirming, setConfirming] = useState(false);
  const name = nameOfSpan(span, resolveZone(zone, zoneOfProject));
  const isRelative = agoPattern.test(span.after) || span.before === '';
  const act = (key: string) => {
    if (key === 'freeze') onSpan(frozen(span));
    else if (key === 'other') setConfirming(true);
    else if ((zones as readonly string[]).includes(key)) onZone(key as ZoneChoice);
    else onSpan({ after: key, before: '' });
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className="button">
          <span className="only-heard">{text.time}: </span>
          {name} <span className="hint">{resolveZone(zone, zoneOfProject)}</span>
          <Icon name="down" size={10} />
        </AriaButton>
        <Popover placement="bottom end">
          <Menu className="menu" aria-label={text.time} onAction={(key) => act(String(key))}>
            <MenuSection>
              <Header className="menu-head">{text.time}</Header>
              {presets.map((after) => (
                <MenuItem key={after} id={after} className="menu-item" textValue={after}>
                  {isPreset(after) ? text.presets[after] : after}
                  {after === span.after && span.before === '' && <Chosen />}
                </MenuItem>
              ))}
              <MenuItem id="other" className="menu-item">
                {text.other}
              </MenuItem>
              {isRelative ? (
                <MenuItem id="freeze" className="menu-item">
                  {text.freeze}
                </MenuItem>
              ) : null}
            </MenuSection>
            <MenuSection>
              <Header className="menu-head">{text.zone}</Header>
              {zones.map((choice) => (
                <MenuItem key={choice} id={choice} className="menu-item" textValue={text.zones[choice]}>
                  {text.zones[choice]} <span className="hint">{resolveZone(choice, zoneOfProject)}</span>
                  {choice === zone && <Chosen />}
                </MenuItem>
              ))}
            </MenuSection>
          </Menu>
        </Popover>
      </MenuTrigger>
      {isConfirming && (
        <OtherSpan
          span={span}
          zone={resolveZone(zone, zoneOfProject)}
          onClose={() => setConfirming(false)}
          onSpan={(chosen) => {
            setConfirming(false);
            onSpan(chosen);
          }}
        />
      )}
    </>
  );
}

const Chosen = () => (
  <span className="menu-chosen">
    <Icon name="check" size={12} />
    <span className="only-heard">{text.chosen}</span>
  </span>
);

function OtherSpan({
  span,
  zone,
  onSpan,
  onClose,
}: {
  span: Span;
  zone: string;
  onSpan: (span: Span) => void;
  onClose: () => void;
}) {
  const start = frozen(span);
  const [after, setAfter] = useState(toLocalTime(new Date(start.after), zone));
  const [before, setBefore] = useState(toLocalTime(new Date(start.before), zone));
  const isBackwards = after !== '' && before !== '' && after >= before;
  return (
    <Dialog title={text.otherTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isBackwards) return;
          onSpan({ after: fromLocalTime(after, zone), before: before === '' ? '' : fromLocalTime(before, zone) });
        }}
      >
        <p className="quiet">{text.inZone(zone)}</p>
        <label className="field">
          <span className="field-label">{text.from}</span>
          <input
            className="input"
            type="datetime-local"
            step={1}
            required
            value={after}
            onChange={({ target }) => setAfter(target.value)}
          />
        </label>
        <label className="field">
          <span className="field-label">{text.to}</span>
          <input
            className="input"
            type="datetime-local"
            step={1}
            value={before}
            onChange={({ target }) => setBefore(target.value)}
          />
          <span className={isBackwards ? 'bad' : 'hint'}>{isBackwards ? text.backwards : text.toHint}</span>
        </label>
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={isBackwards}>
            {text.show}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
