// What the pages gain from a script; without it everything works all the same.
import "./area.js";
import "./builder.js";
import "./card.js";
import "./copy.js";
import "./find.js";
import "./grid.js";
import "./own.js";
import "./picker.js";
import "./readout.js";
