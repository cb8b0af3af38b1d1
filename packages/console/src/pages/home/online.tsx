import { useActivePersonCount } from './queries.ts';
import { text } from './words.ts';

/** Shows how many persons are online now. */
export function OnlineCount() {
  const { data } = useActivePersonCount();
  if (data === undefined) return null;
  return (
    <span className={data > 0 ? 'pill pill-good' : 'pill'} title={text.liveHint}>
      <span className="dot" />
      {text.live(data)}
    </span>
  );
}
