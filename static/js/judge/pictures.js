/* Which pictures a question has, and where they are. Knows no document. */
import { placeOf } from "./words.js";

let base = ""; // of the pictures of questions from whose images one is picked
let size = "thumb"; // in which these are shown to pick from

export function usePictures(given) {
  ({ base, size } = given);
}

/** Where a picture of a question from whose images one is picked is, by its key. */
export function addressOf({ uid }, key, wanted = size) {
  return `${base}${uid}/${key}/${wanted}`;
}

/** The addresses of all pictures that a judge has to see. */
export function picturesOf(question) {
  if (!question.images) return [question.query.url, question.candidate.url];
  return [addressOf(question, question.reference, "view"), ...question.images.map((key) => addressOf(question, key))];
}

/** The pictures that stand for an answered question: what was compared, and with what. */
export function picturesIn(question, answer) {
  if (!question.images) return [question.query, question.candidate];
  const place = placeOf(answer, question);
  const keys = [question.reference, ...(place < 0 ? [] : [question.images[place]])];
  return keys.map((key) => ({ url: addressOf(question, key, "view"), thumb_url: addressOf(question, key, "thumb") }));
}
