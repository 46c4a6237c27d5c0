import { sentenceText } from "../../basics/text";

/** An untrusted sentence; text between backticks is for the user to type. */
export function Sentence({ text }: { readonly text: string }) {
  const parts = sentenceText(text).split("`");
  return <>{parts.map((part, place) => (place % 2 === 1 ? <code>{part}</code> : part))}</>;
}
