import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { BigNumber } from '../../answers/big-number.tsx';
import { SeriesChart } from '../../answers/chart.tsx';
import { Headline } from '../../answers/headline.tsx';
import { nameOfInsight, type Question, sourceOf } from '../../answers/question.ts';
import { currentOf } from '../../answers/series.ts';
import { AnswerTable, seriesInTotal, seriesOverTime } from '../../answers/tables.tsx';
import { text as answers } from '../../answers/words.ts';
import { visible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import type { Tile, TileInsight } from './shapes.ts';
import { text } from './words.ts';

interface TileProps {
  tile: Tile;
  /** Absent: it is the first, the last. */
  onEarlier: (() => void) | undefined;
  onLater: (() => void) | undefined;
  /** Another tile was let go over this one. */
  onDropped: (tileId: number) => void;
  /** Over both columns, or one. */
  onWidth: (isWide: boolean) => void;
  onTakeOff: () => void;
}

const dragged = 'application/x-millrace-tile';

/** An insight or a text. It is moved by dragging its head, or by its buttons. */
export function TilePanel({ tile, onEarlier, onLater, onDropped, onWidth, onTakeOff }: TileProps) {
  const { id } = useProject();
  const name = nameOfTile(tile);
  const isWide = (tile.layouts.sm?.w ?? 6) > 6;
  return (
    <li
      className={isWide ? 'panel board-tile board-wide' : 'panel board-tile'}
      onDragOver={(event) => event.dataTransfer.types.includes(dragged) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        onDropped(Number(event.dataTransfer.getData(dragged)));
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dragging is a second way, the buttons are the first */}
      <div
        className="board-head"
        draggable
        title={text.drag}
        onDragStart={(event) => event.dataTransfer.setData(dragged, String(tile.id))}
      >
        <h2 className="grow cut">
          {tile.insight === null ? (
            <span className="only-heard">{text.textTile}</span>
          ) : (
            <Link to={`/projects/${id}/insights`} search={{ insight: tile.insight.short_id } as never}>
              {name}
            </Link>
          )}
        </h2>
        <Button look="plain" aria-label={text.earlier(name)} isDisabled={!onEarlier} onPress={() => onEarlier?.()}>
          ←
        </Button>
        <Button look="plain" aria-label={text.later(name)} isDisabled={!onLater} onPress={() => onLater?.()}>
          →
        </Button>
        <Button look="plain" aria-label={isWide ? text.narrow(name) : text.wide(name)} onPress={() => onWidth(!isWide)}>
          {isWide ? '⇥⇤' : '⇤⇥'}
        </Button>
        <Button look="plain" aria-label={text.takeOff(name)} onPress={onTakeOff}>
          ×
        </Button>
      </div>
      {tile.insight !== null && <Answered insight={tile.insight} />}
      {tile.text !== null && <p className="board-text">{visible(tile.text.body)}</p>}
    </li>
  );
}

export function nameOfTile({ insight, text: own }: Tile): string {
  return insight === null ? visible(own?.body.slice(0, 40) || text.textTile) : nameOfInsight(insight);
}

function Answered({ insight }: { insight: TileInsight }) {
  const { result, columns, query_status: status } = insight;
  if (status?.error) {
    return (
      <Said>
        <span className="bad">{text.failed}</span> {status.error_message}
      </Said>
    );
  }
  const question = sourceOf(insight.query);
  if (question === null || result === null) return <Said>{text.noAnswer}</Said>;
  return <Shown question={question} result={result} columns={columns} />;
}

const Said = ({ children }: { children: ReactNode }) => <p className="board-said quiet">{children}</p>;

function Shown({ question, result, columns }: { question: Question; result: unknown; columns: string[] | null }) {
  if (columns === null && Array.isArray(result) && result.length === 0) return <Said>{answers.noEvents}</Said>;
  const series = seriesOverTime(question, result);
  if (series === null) {
    const totals = seriesInTotal(question, result);
    return (
      <>
        {totals && <BigNumber series={totals} question={question} />}
        {(totals === null || currentOf(totals).length > 1) && (
          <AnswerTable question={question} results={result} columns={columns} />
        )}
      </>
    );
  }
  return (
    <>
      <div className="board-figure">
        <Headline series={series} question={question} />
      </div>
      <SeriesChart series={series} question={question} />
    </>
  );
}
