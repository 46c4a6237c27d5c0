/** What is open, in one line: the files of each side, and how to show them. */

import { visible } from "../basics/text";
import { useCutNames } from "../draw/cut";
import { bytesWords } from "../words/words";
import { Chooser, filesWords } from "./choosing";
import type { Desk, Side } from "./desk";
import type { Show } from "./protocol";
import * as WORDS from "./strings";

interface StripProps {
  readonly desk: Desk;
}

export function Strip({ desk }: StripProps) {
  const [before, after] = desk.state.sides;
  return before === undefined ? null : (
    <nav class="ckp-strip">
      <SideOf desk={desk} side={before} place={0} zone="before" />
      <span aria-hidden="true">→</span>
      {after === undefined ? (
        <div class="ckp-side ckp-second" data-zone="after">
          <span>{WORDS.dropSecond}</span>
          <Chooser words={WORDS.choose} take={(given) => desk.take("after", given)} />
        </div>
      ) : (
        <SideOf desk={desk} side={after} place={1} zone="after" />
      )}
      {after === undefined ? <WaysOfOne desk={desk} side={before} /> : <WaysOfTwo desk={desk} />}
      <small class="ckp-read">{WORDS.readSoFar(bytesWords(desk.state.bytesRead))}</small>
    </nav>
  );
}

interface SideProps extends StripProps {
  readonly side: Side;
  readonly place: number;
  readonly zone: "before" | "after";
}

function SideOf({ desk, side, place, zone }: SideProps) {
  const { files, path, series } = side;
  const names = useCutNames<HTMLDivElement>();
  const paths = series.flatMap((each) => each.paths);
  const change = (chosen: string) => void desk.change(sameShow(desk), chosen, place);
  return (
    <div ref={names} class="ckp-side" data-zone={zone}>
      {paths.length > 1 ? (
        <select
          aria-label={WORDS.checkpoint}
          value={path}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        >
          {paths.map((one) => (
            <option key={one} value={one}>
              {visible(one)}
            </option>
          ))}
        </select>
      ) : (
        <strong class="ckv-cut" title={visible(path)}>
          {visible(path)}
        </strong>
      )}
      <small class="ckp-files">{filesWords(files)}</small>
      <button type="button" class="ckp-link" onClick={() => void desk.close(place)}>
        {WORDS.close}
      </button>
    </div>
  );
}

function sameShow({ state }: Desk): Show {
  const show = state.shown?.show ?? "graph";
  return show === "history" ? "graph" : show;
}

function WaysOfOne({ desk, side }: StripProps & { readonly side: Side }) {
  const show = desk.state.shown?.show;
  const others = side.series.find(({ paths }) => paths.includes(side.path))?.paths ?? [];
  const press = (to: Show) => () => void desk.change(to);
  return (
    <>
      {show === "graph" ? null : (
        <button type="button" onClick={press("graph")}>
          {WORDS.asGraph}
        </button>
      )}
      {others.length < 2 || show === "history" ? null : (
        <button type="button" onClick={press("history")}>
          {WORDS.seeHistory(others.length)}
        </button>
      )}
      {show === "check" || desk.state.shown?.can_rehearse === false ? null : (
        <button type="button" title={WORDS.rehearseHint} onClick={press("check")}>
          {WORDS.rehearse}
        </button>
      )}
    </>
  );
}

function WaysOfTwo({ desk }: StripProps) {
  const show = desk.state.shown?.show;
  return (
    <>
      <fieldset class="ckp-ways" aria-label={WORDS.showsHint}>
        {(["diff", "check"] as const).map((way) => (
          <button
            key={way}
            type="button"
            aria-pressed={show === way}
            onClick={() => void desk.change(way)}
          >
            {way === "diff" ? WORDS.changed : WORDS.restore}
          </button>
        ))}
      </fieldset>
      <button type="button" onClick={() => void desk.swap()}>
        {WORDS.swap}
      </button>
    </>
  );
}
