import { useMemo } from 'react';
import { Markdown, readPlainMarkdown } from '../../parts/markdown.tsx';

/** Shows the Markdown text of a tile. */
export function TextBody({ body }: { body: string }) {
  const tokens = useMemo(() => readPlainMarkdown(body), [body]);
  return (
    <div className="board-text markdown">
      <Markdown tokens={tokens} addressOf={(target) => (/^(https?:|mailto:)/i.test(target) ? target : undefined)} />
    </div>
  );
}
