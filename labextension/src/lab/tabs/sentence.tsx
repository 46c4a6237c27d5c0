import { sentenceText } from "../../text";

/** A sentence, not trusted; what stands between backticks is to be typed. */
export function Sentence({ text }: { readonly text: string }) {
  const parts = sentenceText(text).split("`");
  return <>{parts.map((part, place) => (place % 2 === 1 ? <code>{part}</code> : part))}</>;
}
