// What the pages gain from a script; without it everything works all the same.
import "./builder.js";
import "./copy.js";
import "./grid.js";
import "./own.js";
import "./picker.js";
