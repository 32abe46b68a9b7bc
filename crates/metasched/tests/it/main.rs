mod generator;
